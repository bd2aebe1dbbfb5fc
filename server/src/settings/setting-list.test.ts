import { expect, it } from 'vitest'
import { SETTING_LIST, settingsHelp } from './setting-list.ts'
import { settingNames } from './unknown-settings.ts'

it('the help lists every setting that the service reads, once', () => {
  const listed = SETTING_LIST.flatMap(([names]) => names.split(', '))
  expect(listed.toSorted()).toEqual(settingNames().toSorted())
})

it('the help fits into a terminal of 100 columns', () => {
  expect(
    settingsHelp()
      .split('\n')
      .filter((line) => line.length > 100),
  ).toEqual([])
})

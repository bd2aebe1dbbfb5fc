import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

/** The first is Chromium without its own windows, which costs half as much. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']

/**
 * The popups of the address bar are two pages in each window, which nobody sees and which cost a second of CPU for each
 * context. The rest is what playwright turns off on this system: the browser takes the last list alone.
 */
const OFF = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
]

let shared: Promise<Browser> | undefined

/** The browser of this worker, which ends with it: a file closes the contexts that it opens. */
export function sharedBrowser(): Promise<Browser> {
  shared ??= launchBrowser()
  return shared
}

/** A Chromium of this machine: the one that TOLLGATE_CHROMIUM names, or the first on the PATH. */
async function launchBrowser(): Promise<Browser> {
  // Its sandbox does not work for root; what the tests open is their own.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return chromium.launch({
    executablePath: chromiumPath(),
    args: [...sandbox, `--disable-features=${OFF.join(',')}`],
  })
}

function chromiumPath(): string {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const candidates = process.env.TOLLGATE_CHROMIUM
    ? [process.env.TOLLGATE_CHROMIUM]
    : NAMES.flatMap((name) => folders.map((folder) => join(folder, name)))
  const found = candidates.find(isExecutable)
  if (found) return found
  throw new Error(
    `These tests require Chromium. Install it, or set TOLLGATE_CHROMIUM to its path (looked for: ${
      process.env.TOLLGATE_CHROMIUM ?? NAMES.join(', ')
    })`,
  )
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

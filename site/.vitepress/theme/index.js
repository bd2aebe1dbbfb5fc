import { withBase } from 'vitepress'
import DefaultTheme, { VPHomeFeatures, VPHomeHero } from 'vitepress/theme-without-fonts'
import { h } from 'vue'
import './style.css'

/** Not a link of VitePress: those lead to its own pages, below /docs. */
const dashboard = (name) => () => h('a', { class: name, href: '/', target: '_self' }, 'Dashboard')

const picture = (scheme) =>
  h('img', {
    class: `first-picture ${scheme}-only`,
    src: withBase(`/publish-${scheme}.png`),
    alt: 'The dashboard: publishing a package, with what changes and who is affected',
    width: 1280,
    height: 800,
  })

/** VitePress's own layout for a first page has no main landmark. */
const FirstPage = () =>
  h('main', [
    h(VPHomeHero),
    h(VPHomeFeatures),
    h('div', { class: 'first-pictures' }, [picture('light'), picture('dark')]),
  ])

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => app.component('FirstPage', FirstPage),
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      'nav-bar-content-after': dashboard('to-dashboard'),
      'nav-screen-content-after': dashboard('to-dashboard-small'),
    }),
}

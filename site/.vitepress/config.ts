import { defineConfig } from 'vitepress'
import { anchorOf, repositoryLinks } from '../links.ts'
import { writtenPages } from '../pages.ts'
import { generatedPages } from '../reference/generated-pages.ts'
import { sidebarOf } from '../sidebar.ts'
import { emptyHeaders } from '../tables.ts'

const written = writtenPages()
const all = new Set([...written, ...generatedPages()].map(({ page }) => page))

export default defineConfig({
  title: 'Tollgate',
  description: "Entitlements and subscriptions for your application's backend.",
  lang: 'en',
  base: '/docs/',
  srcDir: 'dist/markdown',
  cacheDir: 'dist/cache',
  cleanUrls: true,
  // A separate file, so that pages have fewer inline scripts and do not change with other pages.
  metaChunk: true,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/docs/mark.svg' }]],
  markdown: {
    anchor: { slugify: anchorOf },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config(md) {
      repositoryLinks(md, written)
      emptyHeaders(md)
    },
  },
  themeConfig: {
    logo: { src: '/mark.svg', alt: '' },
    nav: [
      { text: 'Guides', link: '/start/run', activeMatch: '^/(start|guides)/' },
      { text: 'Reference', link: '/reference/admin-api', activeMatch: '^/reference/' },
      { text: 'Operations', link: '/operations' },
    ],
    sidebar: sidebarOf(all),
    outline: { level: [2, 3] },
    search: { provider: 'local' },
    docFooter: { prev: 'Previous', next: 'Next' },
  },
  vite: { build: { chunkSizeWarningLimit: 2_000 } },
})

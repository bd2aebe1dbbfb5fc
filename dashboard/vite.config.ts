import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

// The host stays the page's own: the service answers nobody else's pages.
const service = { target: process.env.TOLLGATE_URL ?? 'http://127.0.0.1:4000', changeOrigin: false }

/** Styles in the head hold back everything until they are there, unless they are for another medium: main.tsx changes that. */
const stylesHoldNothingBack: Plugin = {
  name: 'styles-hold-nothing-back',
  transformIndexHtml: {
    order: 'post',
    handler: (html) => html.replaceAll('<link rel="stylesheet"', '<link rel="stylesheet" media="print"'),
  },
}

/** The font is asked for with the first script, not once the styles are read; its licence wants to go wherever it goes. */
const fontComesEarly: Plugin = {
  name: 'font-comes-early',
  generateBundle() {
    const licence = createRequire(import.meta.url).resolve('@fontsource-variable/inter/LICENSE')
    this.emitFile({
      type: 'asset',
      fileName: 'assets/inter-licence.txt',
      source: readFileSync(licence, 'utf8'),
    })
    // Under a name that does not change with the build, for the payment page, which the service writes itself.
    const font = createRequire(import.meta.url).resolve(
      '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2',
    )
    this.emitFile({ type: 'asset', fileName: 'inter.woff2', source: readFileSync(font) })
  },
  transformIndexHtml: {
    order: 'post',
    handler(_html, { bundle = {} }) {
      const font = Object.keys(bundle).find((file) => /inter-latin-wght-normal[\w-]*\.woff2$/.test(file))
      if (font === undefined) return []
      const attrs = { rel: 'preload', as: 'font', type: 'font/woff2', crossorigin: '', href: `/${font}` }
      return [{ tag: 'link', attrs, injectTo: 'head' }]
    },
  },
}

/** GraphiQL is shown in the fonts of the other pages (graphiql.css): its own would be most of what its page loads. */
const graphiqlInOurFonts: Plugin = {
  name: 'graphiql-in-our-fonts',
  enforce: 'pre',
  transform(code, id) {
    if (!id.endsWith('/graphiql/dist/style.css')) return null
    return { code: code.replaceAll(/@font-face\s*\{[^}]*\}/g, ''), map: null }
  },
}

export default defineConfig({
  plugins: [react(), stylesHoldNothingBack, fontComesEarly, graphiqlInOurFonts],
  // Only while the pages are being worked on: `npm run dev` serves them here, beside the service.
  server: {
    proxy: {
      '/graphql': service,
      '/client': service,
      '/dashboard': service,
      '/checkout': service,
      '/docs': service,
    },
  },
  build: {
    target: 'es2022',
    // From these on browsers know light-dark(), which cannot be rewritten for colours chosen at run time.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 2_000,
    // A graph of what is loaded when: the test of the first load's size reads it.
    manifest: true,
    rolldownOptions: {
      // A note of GraphiQL's to the React compiler, which is not at work here.
      onwarn: (warning, warn) => warning.code !== 'MODULE_LEVEL_DIRECTIVE' && warn(warning),
    },
  },
})

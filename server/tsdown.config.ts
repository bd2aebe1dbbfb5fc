import { defineConfig } from 'tsdown'

export default defineConfig({
  entry: ['src/main.ts'],
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  sourcemap: true,
  dts: false,
  clean: true,
  outExtensions: () => ({ js: '.js' }),
})

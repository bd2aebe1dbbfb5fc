import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core'

/** Petrol: neither the green of "access" nor the red of "refused". */
const petrol: MantineColorsTuple = [
  '#eaf6f8',
  '#d5eaee',
  '#a9d5dd',
  '#7cc0cc',
  '#57afbe',
  '#3fa4b5',
  '#2b8ea0',
  '#1a7687',
  '#0d5f6d',
  '#064752',
]

/** The greys of the dark scheme, with a little of the accent in them. */
const dark: MantineColorsTuple = [
  '#dbe4e8',
  '#b6c4ca',
  '#9cabb2',
  '#94a3aa',
  '#33424a',
  '#26323a',
  '#1a2328',
  '#12191d',
  '#0d1316',
  '#090d0f',
]

/** The font comes with the pages; what follows it is for the moment before it is there, and for scripts it has no letters of. */
const SANS =
  '"Inter Variable", "Inter Fallback", system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", Ubuntu, Cantarell, sans-serif'
const MONO = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace'

export const theme = createTheme({
  colors: { petrol, dark },
  primaryColor: 'petrol',
  primaryShade: { light: 8, dark: 7 },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: SANS,
  fontFamilyMonospace: MONO,
  // In steps of four pixels: every distance between things is one of these.
  spacing: { xxs: '0.25rem', xs: '0.5rem', sm: '0.75rem', md: '1rem', lg: '1.5rem', xl: '2rem' },
  fontSizes: { xs: '0.75rem', sm: '0.8438rem', md: '0.9375rem', lg: '1.0625rem', xl: '1.25rem' },
  headings: {
    fontFamily: SANS,
    fontWeight: '650',
    sizes: {
      h1: { fontSize: '1.375rem', lineHeight: '1.3' },
      h2: { fontSize: '1.0625rem', lineHeight: '1.4' },
      h3: { fontSize: '0.9375rem', lineHeight: '1.4' },
    },
  },
  components: {
    Button: { defaultProps: { size: 'sm' } },
    Modal: {
      defaultProps: {
        closeButtonProps: { 'aria-label': 'Close' },
        // Otherwise it counts as the banner of the page.
        attributes: { header: { role: 'none' } },
        centered: true,
        overlayProps: { backgroundOpacity: 0.45 },
      },
    },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Dismiss' } } },
    Tooltip: { defaultProps: { withArrow: true, openDelay: 250 } },
    Table: { defaultProps: { verticalSpacing: 'xs', horizontalSpacing: 'md' } },
    Paper: { defaultProps: { withBorder: true } },
  },
})

/** Mantine's own greys fall short of the contrast that small text needs. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-body': '#ffffff',
    '--mantine-color-text': '#16232a',
    '--mantine-color-dimmed': '#53636b',
    '--mantine-color-placeholder': '#616e75',
    '--mantine-color-error': '#c02525',
    '--mantine-color-default-border': '#d9e0e3',
    '--tg-surface': '#f5f8f9',
    '--tg-line': '#e4eaec',
    '--tg-bar': '#1a7687',
  },
  dark: {
    '--mantine-color-error': '#ff8b8b',
    '--mantine-color-anchor': '#7cc0cc',
    '--tg-surface': '#0d1316',
    '--tg-line': '#26323a',
    '--tg-bar': '#3fa4b5',
  },
})

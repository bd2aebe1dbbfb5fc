/** The same before and after it is known who is there, so that nothing moves. */
export const SIZES = {
  header: { height: { base: 52, sm: 0 } },
  navbar: { width: 236, breakpoint: 'sm' },
  padding: { base: 'md', sm: 'xl' },
} as const

// Before the first paint, so that a dark page does not flash white, and what is shown first has the form of what follows.
// Mantine keeps the choice of colours under this name.
;(() => {
  const kept = localStorage.getItem('mantine-color-scheme-value')
  const dark = kept === 'dark' || (kept !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  const page = document.documentElement
  page.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light')
  if (!/^\/(sign-in|setup|invite|reset)\b/.test(location.pathname)) page.setAttribute('data-inside', '')
})()

/** In the dashboard's font and colours, light and dark, wide and narrow; all text has a contrast of at least 4.5 to 1. */
export const CHECKOUT_STYLE = `
@font-face {
  font-family: "Inter Variable"; font-weight: 100 900; font-display: swap; src: url("/inter.woff2") format("woff2");
}
@font-face {
  font-family: "Inter Fallback"; src: local("Arial"), local("Liberation Sans");
  size-adjust: 107.12%; ascent-override: 90.44%; descent-override: 22.52%; line-gap-override: 0%;
}
:root {
  color-scheme: light dark;
  --ground: #f5f8f9; --card: #ffffff; --text: #16232a; --soft: #53636b; --line: #d9e0e3; --edge: #84929a;
  --accent: #0d5f6d; --on-accent: #ffffff; --ring: #1a7687; --bad: #c02525; --bad-ground: #fdeeee;
  --sand: #fdf1dc; --on-sand: #7a4a00;
  font: 15px/1.5 "Inter Variable", "Inter Fallback", system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  -webkit-font-smoothing: antialiased;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0d1316; --card: #12191d; --text: #dbe4e8; --soft: #9cabb2; --line: #26323a; --edge: #5f707a;
    --accent: #1a7687; --on-accent: #ffffff; --ring: #3fa4b5; --bad: #ff8b8b; --bad-ground: #351815;
    --sand: #32270f; --on-sand: #f5c877;
  }
}
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; background: var(--ground); color: var(--text); overflow-wrap: anywhere }
main { display: grid; grid-template-columns: 1fr; gap: 1.5rem; max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 3rem }
@media (min-width: 48rem) { main { grid-template-columns: 5fr 6fr; gap: 3rem; padding-top: 4rem } }
h1 { font-size: 2.25rem; font-weight: 650; line-height: 1.15; letter-spacing: -.02em; margin: .25rem 0 1.5rem; font-variant-numeric: tabular-nums }
h1 small { font-size: 1rem; font-weight: 400; letter-spacing: 0; color: var(--soft) }
h1 small.then { display: block; margin-top: .5rem; line-height: 1.5 }
main.choose { grid-template-columns: 1fr; max-width: 28rem }
main.choose h1 { font-size: 1.5rem; margin-bottom: .75rem }
main.choose h2 { font-size: 1.25rem; margin-bottom: .25rem }
main.choose a { color: inherit }
h2 { font-size: 1.0625rem; font-weight: 650; margin: 0 0 .75rem }
.app { margin: 0; color: var(--soft); font-weight: 600 }
dl { margin: 0 }
dl div { display: flex; justify-content: space-between; gap: 1rem; padding: .625rem 0; border-bottom: 1px solid var(--line) }
dt, dd { margin: 0 }
dd { font-variant-numeric: tabular-nums; white-space: nowrap }
.total { font-weight: 600; border-bottom: 0 }
.payment, .message { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: 1.5rem }
.message { display: block; max-width: 28rem; margin: 15vh auto 0; text-align: center }
.message h1 { margin-bottom: .5rem }
.sandbox { background: var(--sand); color: var(--on-sand); border-radius: .5rem; padding: .5rem .75rem; margin: 0 0 1rem; font-size: .875rem }
.note { color: var(--soft); margin: 0 0 1rem }
.alert { background: var(--bad-ground); color: var(--bad); border-radius: .5rem; padding: .5rem .75rem; margin: 0 0 1rem }
.field { margin-bottom: 1rem }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem }
label { display: block; font-size: .875rem; font-weight: 600; margin-bottom: .25rem }
input, button, .button { font: inherit; width: 100%; min-height: 2.5rem; padding: .5rem .75rem; border-radius: .5rem }
input { background: var(--card); color: var(--text); border: 1px solid var(--edge); font-variant-numeric: tabular-nums }
input::placeholder { color: var(--soft); opacity: 1 }
input[aria-invalid] { border-color: var(--bad); border-width: 2px }
.problem { color: var(--bad); font-size: .875rem; margin: .25rem 0 0 }
button, .button { display: inline-block; border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent); font-weight: 600; cursor: pointer; text-align: center; text-decoration: none }
button.quiet { background: transparent; color: var(--text); border-color: var(--line); margin-top: .625rem; font-weight: 600 }
button:hover, .button:hover { filter: brightness(1.08) }
:focus-visible { outline: 2px solid var(--ring); outline-offset: 2px }
table { width: 100%; margin-top: 1.5rem; border-collapse: collapse; font-size: .875rem }
caption { text-align: left; color: var(--soft); padding-bottom: .25rem }
th, td { text-align: left; padding: .375rem .5rem .375rem 0; border-top: 1px solid var(--line); font-weight: 400 }
th { color: var(--soft) }
td:first-child { font-variant-numeric: tabular-nums; white-space: nowrap }
.visually-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
@media (max-width: 24rem) { .payment { padding: 1rem } .pair { gap: .625rem } }
`

/**
 * The currencies of ISO 4217, by the number of decimals of their minor unit. Intl is not used: it follows how a
 * currency is usually written (HUF, PKR, COP and IQD without decimals) and would show some prices a hundred times too
 * high. Metals, drawing rights and test codes have no minor unit and cannot be charged.
 */
const ISO_4217: readonly [exponent: number, codes: string][] = [
  [0, 'bif clp djf gnf isk jpy kmf krw pyg rwf ugx uyi vnd vuv xaf xof xpf'],
  [
    2,
    `aed afn all amd aoa ars aud awg azn bam bbd bdt bmd bnd bob bov brl bsd btn bwp byn bzd cad cdf che chf chw cny
     cop cou crc cup cve czk dkk dop dzd egp ern etb eur fjd fkp gbp gel ghs gip gmd gtq gyd hkd hnl htg huf idr ils
     inr irr jmd kes kgs khr kpw kyd kzt lak lbp lkr lrd lsl mad mdl mga mkd mmk mnt mop mru mur mvr mwk mxn mxv myr
     mzn nad ngn nio nok npr nzd pab pen pgk php pkr pln qar ron rsd rub sar sbd scr sdg sek sgd shp sle sos srd ssp
     stn svc syp szl thb tjs tmt top try ttd twd tzs uah usd usn uyu uzs ved ves wst xcd xcg yer zar zmw zwg`,
  ],
  [3, 'bhd iqd jod kwd lyd omr tnd'],
  [4, 'clf uyw'],
]

const EXPONENTS: ReadonlyMap<string, number> = new Map(
  ISO_4217.flatMap(([exponent, codes]) => codes.split(/\s+/).map((code) => [code, exponent] as const)),
)

/**
 * Where Stripe differs from ISO 4217 (docs.stripe.com/currencies): krónur and Ugandan shillings in hundredths, but only
 * whole units are accepted, and ariary without a minor unit.
 */
const STRIPE_EXPONENTS: ReadonlyMap<string, number> = new Map([
  ['mga', 0],
  ['isk', 2],
  ['ugx', 2],
])
const WHOLE_AT_STRIPE = ['isk', 'ugx']

/** In lower case, as in prices. */
export const isCurrency = (code: string): boolean => EXPONENTS.has(code)

/**
 * Number of decimals of a provider's minor units. Currencies that are not listed, which a provider's payment may have,
 * count in hundredths.
 */
export function exponentOf(provider: string, currency: string): number {
  const own = provider === 'stripe' ? STRIPE_EXPONENTS.get(currency) : undefined
  return own ?? EXPONENTS.get(currency) ?? 2
}

/** Amounts must be multiples of this, in minor units. */
export function stepOf(provider: string, currency: string): number {
  if (provider !== 'stripe') return 1
  if (WHOLE_AT_STRIPE.includes(currency)) return 100
  return exponentOf(provider, currency) === 3 ? 10 : 1
}

/** A currency as a provider counts it. */
export interface Currency {
  code: string
  exponent: number
  step: number
}

/** By code. */
export const currenciesOf = (provider: string): Currency[] =>
  [...EXPONENTS.keys()].sort().map((code) => ({
    code,
    exponent: exponentOf(provider, code),
    step: stepOf(provider, code),
  }))

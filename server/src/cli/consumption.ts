export interface Consumption {
  used: number
  /** null: unlimited */
  budget: number | null
  overageEnabled: boolean
}

const count = (value: number) => value.toLocaleString('en-US')

export function usedText({ used, budget, overageEnabled }: Consumption): string {
  if (budget === null) return `Used ${count(used)}, unlimited.`
  return `Used ${count(used)} of ${count(budget)}${overageEnabled ? ', overage enabled' : ''}.`
}

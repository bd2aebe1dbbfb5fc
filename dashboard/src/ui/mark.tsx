/** A raised barrier: the toll is paid, the gate is open. */
export function Mark({ size = 28 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="#0d5f6d" />
      <path d="M9 27V13.5" stroke="#fff" strokeWidth="4" strokeLinecap="round" />
      <path d="M9 13.5 26.5 6.5" stroke="#fff" strokeWidth="4.6" strokeLinecap="round" />
      <path d="M14 11.5 17.2 10.22M20.5 8.9 23.7 7.62" stroke="#f2a33a" strokeWidth="4.6" />
      <circle cx="9" cy="13.5" r="1.6" fill="#0d5f6d" />
    </svg>
  )
}

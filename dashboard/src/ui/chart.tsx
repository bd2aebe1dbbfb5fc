import 'uplot/dist/uPlot.min.css'
import { useComputedColorScheme } from '@mantine/core'
import { useEffect, useRef } from 'react'
import UPlot from 'uplot'
import { shortNumber } from './number.ts'

export interface Series {
  label: string
  values: (number | null)[]
  kind: 'line' | 'bars' | 'limit'
}

interface ChartProps {
  /** a description for screen readers */
  label: string
  /** in seconds */
  times: number[]
  series: Series[]
  height?: number
}

const COLOURS = {
  light: { axis: '#53636b', grid: '#e4eaec', series: ['#1a7687', '#c77700', '#7a4fb5'] },
  dark: { axis: '#9cabb2', grid: '#26323a', series: ['#4fb3c4', '#f2a33a', '#b794f4'] },
}

/** Values over time, in UTC like everything here. */
export function Chart({ label, times, series, height = 220 }: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const scheme = useComputedColorScheme('light')
  useEffect(() => {
    const element = place.current
    if (!element) return
    const { axis, grid, series: colours } = COLOURS[scheme]
    const scale = {
      stroke: axis,
      grid: { stroke: grid, width: 1 },
      ticks: { show: false },
      font: `11px ${getComputedStyle(element).fontFamily}`,
    }
    // A bar stands in the middle of its time, and half of it would stick out.
    const margin = series.some(({ kind }) => kind === 'bars') ? barWidth(times) / 2 : 0
    const chart = new UPlot(
      {
        width: element.clientWidth,
        height,
        tzDate: (time) => UPlot.tzDate(new Date(time * 1000), 'Etc/UTC'),
        cursor: { points: { size: 7 }, drag: { x: false, y: false } },
        hooks: { ready: [showValues], setLegend: [showValues] },
        scales: {
          // From the times themselves: for a single one uPlot would choose years.
          x: { range: (_, min, max) => [(times[0] ?? min) - margin, (times.at(-1) ?? max) + margin] },
          y: { range: (_, _min, max) => [0, Math.max(max * 1.1, 1)] },
        },
        axes: [
          scale,
          { ...scale, size: 46, incrs: WHOLE_STEPS, values: (_, ticks) => ticks.map(shortNumber) },
        ],
        series: [
          { label: 'Time' },
          ...series.map(({ label, kind }, row) => {
            const colour = colours[row % colours.length] ?? axis
            return {
              label,
              stroke: colour,
              width: kind === 'bars' ? 0 : 2,
              points: { show: false },
              value: (_: UPlot, value: number | null) => (value === null ? '–' : value.toLocaleString('en')),
              ...(kind === 'limit' && { dash: [4, 4] }),
              ...(kind === 'line' && { fill: `${colour}1c` }),
              ...(kind === 'bars' && {
                fill: colour,
                ...(UPlot.paths.bars && { paths: UPlot.paths.bars({ size: [0.6, 48] }) }),
              }),
            }
          }),
        ],
      },
      [times, ...series.map(({ values }) => values)],
      element,
    )
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      chart.destroy()
    }
  }, [times, series, height, scheme])
  return (
    <div ref={place} role="img" aria-label={label} style={{ minHeight: height + 30, overflow: 'hidden' }} />
  )
}

/** Without a cursor, the legend shows only the series' names. */
const showValues = ({ root, legend }: UPlot) =>
  root.querySelector('.u-legend')?.classList.toggle('u-live', typeof legend.idx === 'number')

/** All values are whole numbers. */
const WHOLE_STEPS = Array.from({ length: 16 }, (_, power) =>
  [1, 2, 5].map((digit) => digit * 10 ** power),
).flat()

const A_MONTH = 30 * 24 * 60 * 60

const barWidth = ([first, second]: number[]): number =>
  first === undefined || second === undefined ? A_MONTH : second - first

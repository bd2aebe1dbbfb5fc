import 'uplot/dist/uPlot.min.css'
import { Text, useComputedColorScheme } from '@mantine/core'
import { useEffect, useRef } from 'react'
import UPlot from 'uplot'
import { number, shortNumber } from './number.ts'
import { periodLabels, timeLabels } from './period-labels.ts'

export interface Series {
  label: string
  values: (number | null)[]
  kind: 'line' | 'bars' | 'limit'
}

interface ChartProps {
  /** a description for screen readers */
  label: string
  /** in seconds; with bars, the starts of periods, which are drawn equally wide */
  times: number[]
  series: Series[]
  height?: number
  /** What the last value is that is still growing, such as "this hour". It is drawn apart from the whole ones. */
  unfinished?: string
}

const COLOURS = {
  light: { axis: '#53636b', grid: '#e4eaec', ground: '#ffffff', series: ['#1a7687', '#c77700', '#7a4fb5'] },
  dark: { axis: '#9cabb2', grid: '#26323a', ground: '#12191d', series: ['#4fb3c4', '#f2a33a', '#b794f4'] },
}

/** Values over time, in the reader's zone. */
export function Chart({ label, times, series, height = 220, unfinished }: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const scheme = useComputedColorScheme('light')
  useEffect(() => {
    const element = place.current
    if (!element) return
    const { axis, grid, ground, series: colours } = COLOURS[scheme]
    const scale = {
      stroke: axis,
      grid: { stroke: grid, width: 1 },
      ticks: { show: false },
      font: `11px ${getComputedStyle(element).fontFamily}`,
    }
    const periods = series.some(({ kind }) => kind === 'bars')
    const labels = periods ? periodLabels(times) : []
    const last = times.length - 1
    const isOpen = (index: number | null | undefined) => unfinished !== undefined && index === last
    const drawn = series.flatMap((one, row) => {
      const colour = colours[row % colours.length] ?? axis
      const whole = {
        kind: one.kind,
        options: {
          ...looks(one.kind, colour, colour),
          label: one.label,
          value: (_: UPlot, value: number | null, _series: number, index: number | null) =>
            valueText(isOpen(index) ? (one.values[last] ?? null) : value, isOpen(index)),
        },
        values: one.values.map((value, index) => (isOpen(index) && one.kind !== 'limit' ? null : value)),
      }
      if (unfinished === undefined || one.kind === 'limit') return [whole]
      // The part of the last one that is there already, by itself: a line to it would seem to fall.
      const part = {
        kind: one.kind,
        options: {
          ...looks(one.kind, colour, `${colour}59`),
          ...(one.kind === 'line' && {
            points: { show: true, size: 8, width: 2, stroke: colour, fill: ground },
          }),
          class: 'u-part',
        },
        values: one.values.map((value, index) => (isOpen(index) ? value : null)),
      }
      return [whole, part]
    })
    const chart = new UPlot(
      {
        width: element.clientWidth,
        height,
        cursor: { points: { size: 7 }, drag: { x: false, y: false } },
        hooks: { ready: [showValues], setLegend: [showValues] },
        scales: {
          // From the values themselves: for a single time uPlot would choose years.
          x: periods
            ? { time: false, range: () => [-0.5, Math.max(last, 0) + 0.5] }
            : { range: (_, min, max) => [times[0] ?? min, times[last] ?? max] },
          y: { range: (_, _min, max) => [0, Math.max(max * 1.1, 1)] },
        },
        axes: [
          periods
            ? {
                ...scale,
                grid: { show: false },
                splits: () => times.map((_, index) => index),
                values: (plot) => everyThatFits(labels, plot.width),
              }
            : { ...scale, values: (_, ticks) => timeLabels(ticks) },
          { ...scale, size: 46, incrs: WHOLE_STEPS, values: (_, ticks) => ticks.map(shortNumber) },
        ],
        series: [
          periods ? { label: 'From', value: (_, index) => labels[index] ?? '' } : { label: 'Time' },
          ...drawn.map(({ options }) => options),
        ],
      },
      [periods ? times.map((_, index) => index) : times, ...drawn.map(({ values }) => values)],
      element,
    )
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      chart.destroy()
    }
  }, [times, series, height, scheme, unfinished])
  return (
    <>
      <div ref={place} role="img" aria-label={label} style={{ minHeight: height + 30, overflow: 'hidden' }} />
      {unfinished !== undefined && (
        <Text size="xs" c="dimmed" mt="xxs">
          {`○ ${unfinished.charAt(0).toUpperCase()}${unfinished.slice(1)} (incomplete)`}
        </Text>
      )}
    </>
  )
}

function looks(kind: Series['kind'], colour: string, fill: string): Omit<UPlot.Series, 'label'> {
  if (kind === 'limit') return { stroke: colour, width: 2, points: { show: false }, dash: [4, 4] }
  if (kind === 'line') return { stroke: colour, width: 2, points: { show: false }, fill: `${colour}1c` }
  return {
    stroke: colour,
    width: 0,
    fill,
    points: { show: false },
    ...(UPlot.paths.bars && { paths: UPlot.paths.bars({ size: [0.6, 48] }) }),
  }
}

const valueText = (value: number | null, open: boolean): string =>
  value === null ? '–' : `${number(value)}${open ? ' so far' : ''}`

const LABEL_WIDTH = 64

/** One tick per period; where there is no room for all their labels, every second, third … has one. */
function everyThatFits(labels: readonly string[], width: number): string[] {
  const step = Math.ceil((labels.length * LABEL_WIDTH) / Math.max(width - 46, 1))
  return labels.map((label, index) => ((labels.length - 1 - index) % step === 0 ? label : ''))
}

/** Without a cursor, the legend shows only the series' names. */
const showValues = ({ root, legend }: UPlot) =>
  root.querySelector('.u-legend')?.classList.toggle('u-live', typeof legend.idx === 'number')

/** All values are whole numbers. */
const WHOLE_STEPS = Array.from({ length: 16 }, (_, power) =>
  [1, 2, 5].map((digit) => digit * 10 ** power),
).flat()

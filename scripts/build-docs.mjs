import { build } from './ready.mjs'

build(['site'])

import { build } from './ready.mjs'

build(['dashboard'])

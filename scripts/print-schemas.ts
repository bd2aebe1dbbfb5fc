// Writes the schemas, as the service builds them, to the committed files in which changes are reviewed.
import { writeFileSync } from 'node:fs'
import {
  OPENAPI_FILE,
  openapiText,
  PYTHON_FILE,
  printed,
  REST_PAGE_FILE,
  restPage,
  SCHEMAS,
} from '../server/test/harness/schemas.ts'
import { pythonClient } from './python-client.ts'

for (const { file, schema } of SCHEMAS) writeFileSync(file, printed(schema))
writeFileSync(OPENAPI_FILE, openapiText())
writeFileSync(PYTHON_FILE, pythonClient(JSON.parse(openapiText())))
writeFileSync(REST_PAGE_FILE, restPage())

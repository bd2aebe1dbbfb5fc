// Writes the schemas, as the service builds them, to the committed files in which changes are reviewed.
import { writeFileSync } from 'node:fs'
import { OPENAPI_FILE, openapiText, printed, SCHEMAS } from '../server/test/harness/schemas.ts'

for (const { file, schema } of SCHEMAS) writeFileSync(file, printed(schema))
writeFileSync(OPENAPI_FILE, openapiText())

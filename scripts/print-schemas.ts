// Writes the schemas, as the service builds them, to the committed files in which changes are reviewed.
import { writeFileSync } from 'node:fs'
import { printed, SCHEMAS } from '../server/test/harness/schemas.ts'

for (const { file, schema } of SCHEMAS) writeFileSync(file, printed(schema))

package expect

import _ "embed"

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema of scripts, for editors that complete and check YAML.
func Schema() []byte { return append([]byte(nil), schema...) }

//go:build unix

package mcp

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// fixArguments rewrites arguments of a wrong type with one possible meaning: a number or a duration in a string, a number
// beyond the schema's maximum, and one value where the schema requires a list. The schema rejects the others.
func fixArguments(schema *jsonschema.Schema, raw json.RawMessage) json.RawMessage {
	var args map[string]any
	if len(raw) == 0 || json.Unmarshal(raw, &args) != nil {
		return raw
	}
	changed := false
	for name, value := range args {
		p := schema.Properties[name]
		if p == nil {
			continue
		}
		if better, ok := fixValue(p, value); ok {
			args[name], changed = better, true
		}
	}
	if !changed {
		return raw
	}
	b, err := json.Marshal(args)
	if err != nil {
		return raw
	}
	return b
}

// fixValue returns the value that an argument means, and whether that differs from the value given.
func fixValue(p *jsonschema.Schema, value any) (any, bool) {
	text, isText := value.(string)
	n, isNumber := value.(float64)
	changed := false
	switch {
	case isText && p.Type == "array":
		return []any{text}, true
	case isText && p.Type == "boolean":
		b, err := strconv.ParseBool(text)
		return b, err == nil
	case isText && (p.Type == "number" || p.Type == "integer"):
		var err error
		if n, err = strconv.ParseFloat(text, 64); err != nil && p.Type == "number" {
			var d time.Duration
			d, err = time.ParseDuration(text)
			n = d.Seconds()
		}
		if err != nil {
			return nil, false
		}
		changed = true
	case !isNumber:
		return nil, false
	}
	if p.Maximum != nil && n > *p.Maximum {
		n, changed = *p.Maximum, true
	}
	return n, changed
}

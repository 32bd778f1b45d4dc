//go:build unix

package mcp

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// FAULT: J
func TestFixArguments_RewritesUnambiguousValues(t *testing.T) {
	schemaOf := func(name string) *jsonschema.Schema {
		var s jsonschema.Schema
		if err := json.Unmarshal([]byte(tools[slices.IndexFunc(tools, byName(name))].inputSchema), &s); err != nil {
			t.Fatal(err)
		}
		return &s
	}
	for _, c := range []struct {
		tool, args, want string
		valid            bool
	}{
		{"wait", `{"for":"web","yield":"2s"}`, `{"for":["web"],"yield":2}`, true},
		{"wait", `{"for":["web"],"yield":60}`, `{"for":["web"],"yield":45}`, true},
		{"exec", `{"line":"x","yield":"1m30s"}`, `{"line":"x","yield":45}`, true},
		{"exec", `{"line":"x","timeout":"2m"}`, `{"line":"x","timeout":120}`, true},
		{"exec", `{"line":"x","max_tokens":"500"}`, `{"line":"x","max_tokens":500}`, true},
		{"input", `{"session":"s","keys":"C-c","enter":"true"}`, `{"enter":true,"keys":["C-c"],"session":"s"}`, true},
		{"jobs", `{"limit":9999}`, `{"limit":500}`, true},
		{"exec", `{"line":"x","yield":"soon"}`, `{"line":"x","yield":"soon"}`, false},
		{"exec", `{"line":"x","yield":-1}`, `{"line":"x","yield":-1}`, false},
		{"exec", `{"line":7}`, `{"line":7}`, false},
		{"wait", `{"for":[]}`, `{"for":[]}`, false},
		{"help", ``, ``, true},
	} {
		got := fixArguments(schemaOf(c.tool), json.RawMessage(c.args))
		resolved, err := schemaOf(c.tool).Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != c.want || (checkArguments(resolved, got) == nil) != c.valid {
			t.Errorf("%s%s: %s, %v", c.tool, c.args, got, checkArguments(resolved, got))
		}
	}
}

package output

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// TestReplicaAnswers_AreMarked checks that JSON of a response from a fleet's replica is marked in each object, whatever
// its form.
//
// FEATURES: R94
func TestReplicaAnswers_AreMarked(t *testing.T) {
	of := &api.FleetCopy{Host: "lost", NotCopied: 3}
	for _, c := range []struct {
		value any
		want  string
	}{
		{map[string]int{"a": 1}, `{"a":1,"copy":{"host":"lost","as_of":"0001-01-01T00:00:00Z","not_copied_bytes":3}}`},
		{struct{}{}, `{"copy":{"host":"lost","as_of":"0001-01-01T00:00:00Z","not_copied_bytes":3}}`},
		{[]any{map[string]string{"b": "<"}, 4}, `[{"b":"<","copy":{"host":"lost","as_of":"0001-01-01T00:00:00Z","not_copied_bytes":3}},4]`},
		{[]int{}, `[]`}, {"text", `"text"`}, {nil, `null`},
	} {
		var out, flat bytes.Buffer
		p := &Printer{Stdout: &out, JSON: true, Copy: of}
		if err := p.Print(c.value, nil); err != nil {
			t.Fatal(err)
		}
		if err := json.Compact(&flat, out.Bytes()); err != nil {
			t.Fatal(err)
		}
		if flat.String() != c.want {
			t.Errorf("%v: %s", c.value, flat.String())
		}
	}
}

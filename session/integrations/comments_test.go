package integrations

import (
	"testing"

	"github.com/longterm-dev/longterm/session/integrations/jsontext"
)

// TestCommentsInEmptyObjectsStay checks that removing an entry removes no comment that the object had before.
//
// FEATURES: R106
func TestCommentsInEmptyObjectsStay(t *testing.T) {
	for before, want := range map[string]string{
		"{\n  \"servers\": {\n    // none yet\n  },\n  \"theme\": \"One\"\n}\n": "{\n  \"servers\": {\n    // none yet\n  },\n  \"theme\": \"One\"\n}\n",
		"{\n  \"servers\": {},\n  \"theme\": \"One\"\n}\n":                      "{\n  \"theme\": \"One\"\n}\n",
		"{\n  // mine\n  \"servers\": {}\n}\n":                                  "{\n  // mine\n}\n",
	} {
		d, err := jsontext.Parse([]byte(before))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Set(map[string]string{"command": "longterm"}, "servers", entryName); err != nil {
			t.Fatal(err)
		}
		if err := removeAll(d, []string{"servers", entryName}); err != nil || string(d.Bytes()) != want {
			t.Errorf("%q became %q, %v; want %q", before, d.Bytes(), err, want)
		}
	}
}

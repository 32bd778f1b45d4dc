package api

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// same says whether a session is read as encoding/json reads it by itself.
func sameSession(t *testing.T, text []byte) (quick bool) {
	t.Helper()
	var got FleetSession
	var want plainSession
	err, wanted := json.Unmarshal(text, &got), json.Unmarshal(text, &want)
	if (err == nil) != (wanted == nil) || err == nil && !reflect.DeepEqual(got, FleetSession(want)) {
		t.Errorf("%s:\n%+v, %v\n%+v, %v", text, got, err, want, wanted)
	}
	r := sessionReader{text: string(text)}
	_, quick = r.session()
	if quick && wanted != nil {
		t.Errorf("%s is read, and is no JSON of a session: %v", text, wanted)
	}
	return quick
}

var sessionTexts = []string{
	`{}`, `{"id":"1","name":"a b","state":"running"}`, `{"id":"1","id":"2"}`, `{"command":"echo \u003c \"x\" \\"}`, `{"command":"grün …"}`,
	`{"exit_code":-1,"approvals":3,"progress":50,"away":true}`, `{"labels":{"a":"1","b":"\n"}}`, `{"labels":{}}`, `{"away":false,"since":"2026-11-24T01:02:03Z"}`,
}

// FEATURES: R94
func TestFleetSessionIsReadQuickly(t *testing.T) {
	code := 3
	b, err := json.Marshal(FleetSession{
		Host: "h", Away: true, ID: "1", Name: "n", State: "exited", Needs: "password", Approval: 2, Progress: 3, Command: `a "b" <c>`, Cwd: "/ü",
		Labels: map[string]string{"k": "v"}, Agent: "x", ExitCode: &code, Since: time.Date(2026, 11, 24, 1, 2, 3, 0, time.UTC),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append(sessionTexts, string(b)) {
		if !sameSession(t, []byte(text)) {
			t.Errorf("%s is not read quickly", text)
		}
	}
	for _, text := range []string{
		``, `null`, `[]`, `{`, `{}}`, `{"id":"1",}`, ` {"id" : "1"}`, `{"ID":"1"}`, `{"other":[{}]}`, `{"id":null}`, `{"id":1}`, `{"progress":01}`, `{"progress":1e2}`,
		`{"progress":99999999999999999999}`, `{"id":"\x"}`, `{"id":"` + "\x01" + `"}`, `{"id":"` + "\xff" + `"}`, `{"since":"yesterday"}`, `{"labels":{"a":"1"},"labels":{"b":"2"}}`,
		`{"labels":null}`, `{"exit_code":null}`, `{"progress":-}`, `{"id":"`,
	} {
		if sameSession(t, []byte(text)) {
			t.Errorf("%s is read quickly", text)
		}
	}
}

// FEATURES: R94
func FuzzFleetSession(f *testing.F) {
	for _, text := range sessionTexts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { sameSession(t, text) })
}

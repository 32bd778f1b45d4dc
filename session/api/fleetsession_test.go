package api

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"
)

// sameSession says whether a session is read quickly, and sees that it is read as encoding/json reads it, alone and in a
// list.
func sameSession(t *testing.T, text []byte) (quick bool) {
	t.Helper()
	var got, want FleetSession
	err, wanted := got.Decode(text), json.Unmarshal(text, &want)
	if (err == nil) != (wanted == nil) || err == nil && !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n%+v, %v\n%+v, %v", text, got, err, want, wanted)
	}
	list := fmt.Appendf(nil, "[%s,{},%s]\n", text, text)
	var all FleetSessions
	var wantAll []FleetSession
	err, wanted = all.UnmarshalJSON(list), json.Unmarshal(list, &wantAll)
	if (err == nil) != (wanted == nil) || err == nil && !reflect.DeepEqual([]FleetSession(all), wantAll) {
		t.Errorf("%s:\n%+v, %v\n%+v, %v", list, all, err, wantAll, wanted)
	}
	r := sessionReader{text: string(text)}
	_, quick = r.session()
	return quick && r.at == len(text)
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

// FEATURES: R94
func TestFleetSessionsAreRead(t *testing.T) {
	for text, want := range map[string]int{"[]": 0, "[]\n": 0, `[{"id":"1"},{"id":"2"}]`: 2, ` [ {"id":"1"} ]`: 1, "null": 0, "[{}": -1, "[{},]": -1, "[{}]x": -1, "": -1, "{}": -1} {
		all := FleetSessions{{ID: "before"}}
		if err := all.UnmarshalJSON([]byte(text)); (err != nil) != (want < 0) || err == nil && len(all) != want {
			t.Errorf("%q: %v, %v", text, all, err)
		}
	}
}

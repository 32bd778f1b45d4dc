package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// checkSessionRead reports whether a session is read without encoding/json, and checks that the result is the same, alone
// and in a list.
func checkSessionRead(t *testing.T, text []byte) bool {
	t.Helper()
	var got, want FleetSession
	err, wanted := got.Decode(text), json.Unmarshal(text, &want)
	if (err == nil) != (wanted == nil) || err == nil && !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n%+v, %v\n%+v, %v", text, got, err, want, wanted)
	}
	list := fmt.Appendf(nil, "[%s,{},%s]\n", text, text)
	var all FleetSessions
	var wantAll []FleetSession
	err, wanted = all.ReadJSON(iotest.HalfReader(bytes.NewReader(list))), json.Unmarshal(list, &wantAll)
	if (err == nil) != (wanted == nil) || err == nil && !reflect.DeepEqual([]FleetSession(all), wantAll) {
		t.Errorf("%s:\n%+v, %v\n%+v, %v", list, all, err, wantAll, wanted)
	}
	r := sessionReader{text: string(text)}
	return r.session(&FleetSession{}) && r.at == len(text)
}

// sessionTexts are sessions in JSON.
var sessionTexts = []string{
	`{}`, `{"id":"1","name":"a b","state":"running"}`, `{"id":"1","id":"2"}`, `{"command":"echo \u003c \"x\" \\"}`, `{"command":"grün …"}`,
	`{"exit_code":-1,"approvals":3,"progress":50,"away":true}`, `{"labels":{"a":"1","b":"\n"}}`, `{"labels":{}}`, `{"away":false,"since":"2026-11-24T01:02:03Z"}`,
}

// FEATURES: R94
func TestFleetSession_ReadQuickly(t *testing.T) {
	code := 3
	b, err := json.Marshal(FleetSession{
		Host: "h", Unreachable: true, ID: "1", Name: "n", State: "exited", Needs: "password", Approval: 2, Progress: 3, Command: `a "b" <c>`, Cwd: "/ü",
		Labels: map[string]string{"k": "v"}, Agent: "x", ExitCode: &code, Stopped: true, Since: time.Date(2026, 11, 24, 1, 2, 3, 0, time.UTC),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append(sessionTexts, string(b)) {
		if !checkSessionRead(t, []byte(text)) {
			t.Errorf("%s needs encoding/json", text)
		}
	}
	for _, text := range []string{
		``, `null`, `[]`, `{`, `{}}`, `{"id":"1",}`, ` {"id" : "1"}`, `{"ID":"1"}`, `{"other":[{}]}`, `{"id":null}`, `{"id":1}`, `{"progress":01}`, `{"progress":1e2}`,
		`{"progress":99999999999999999999}`, `{"id":"\x"}`, `{"id":"` + "\x01" + `"}`, `{"id":"` + "\xff" + `"}`, `{"since":"yesterday"}`, `{"labels":{"a":"1"},"labels":{"b":"2"}}`,
		`{"labels":null}`, `{"exit_code":null}`, `{"progress":-}`, `{"id":"`,
	} {
		if checkSessionRead(t, []byte(text)) {
			t.Errorf("%s does not need encoding/json", text)
		}
	}
}

// checkWritten checks that a list is written as encoding/json does.
func checkWritten(t *testing.T, list FleetSessions) {
	t.Helper()
	for _, indent := range []string{"", "  "} {
		var got, want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", indent)
		err, wanted := list.WriteJSON(&got, indent != ""), enc.Encode([]FleetSession(list))
		if (err == nil) != (wanted == nil) || err == nil && !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%+v:\n%s %v\n%s %v", list, &got, err, &want, wanted)
		}
	}
}

// FEATURES: R94
func TestFleetSessions_Write(t *testing.T) {
	code, zero := -3, 0
	full := FleetSession{
		Host: "h", Unreachable: true, ID: "1", Name: "n\n", State: "exited", Needs: "password", Approval: 2, Progress: 3, Command: `a "b" <c> & \` + "\x00\x7f\xff\u2028", Cwd: "/ü",
		Labels: map[string]string{"k": "v", "a b": `"`}, Agent: "x", ExitCode: &code, Since: time.Date(2026, 11, 24, 1, 2, 3, 4, time.FixedZone("", 3600)),
	}
	for _, list := range []FleetSessions{nil, {}, {{}}, {full}, {{ExitCode: &zero, Labels: map[string]string{}}, full, {}}, {{Since: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}}, slices.Repeat(FleetSessions{full}, 1000)} {
		checkWritten(t, list)
	}
}

// FEATURES: R94
func FuzzFleetSession(f *testing.F) {
	for _, text := range sessionTexts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		checkSessionRead(t, text)
		var s FleetSession
		if s.Decode(text) == nil {
			checkWritten(t, FleetSessions{s, s})
		}
	})
}

// FEATURES: R94
func TestFleetSessions_Read(t *testing.T) {
	for text, want := range map[string]int{"[]": 0, "[]\n": 0, `[{"id":"1"},{"id":"2"}]`: 2, ` [ {"id":"1"} ]`: 1, "null": 0, "[{}": -1, "[{},]": -1, "[{}]x": -1, "": -1, "{}": -1} {
		all := FleetSessions{{ID: "before"}}
		if err := all.ReadJSON(strings.NewReader(text)); (err != nil) != (want < 0) || err == nil && len(all) != want {
			t.Errorf("%q: %v, %v", text, all, err)
		}
	}
}

// TestFleetSessions_ReadLongList checks that a list longer than readChunk is read to its end, also with a session in
// another form, and that a truncated one is an error.
//
// FEATURES: R94
func TestFleetSessions_ReadLongList(t *testing.T) {
	var b strings.Builder
	want := slices.Repeat(FleetSessions{{ID: "1", Command: "},{ " + strings.Repeat("x", 100)}, {ID: "2", Labels: map[string]string{"a": "1"}}}, 3*readChunk/100)
	if err := want.WriteJSON(&b, false); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{b.String(), strings.Replace(b.String(), `"labels":`, ` "labels" : `, 1)} {
		var got FleetSessions
		if err := got.ReadJSON(strings.NewReader(text)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%d sessions, not %d: %v", len(got), len(want), err)
		}
		cut := io.MultiReader(strings.NewReader(text[:len(text)/2]), iotest.ErrReader(io.ErrUnexpectedEOF))
		if err := got.ReadJSON(cut); !errors.Is(err, io.ErrUnexpectedEOF) || got != nil {
			t.Errorf("%d sessions, %v", len(got), err)
		}
		if err := got.ReadJSON(strings.NewReader(text[:len(text)/2])); err == nil {
			t.Error("a truncated list is accepted")
		}
	}
}

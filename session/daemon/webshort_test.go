//go:build unix

package daemon

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// TestShortMessages checks that a page that reads short messages gets short acknowledgements of its input, all of it,
// and each new prompt of the session.
//
// FEATURES: R83 R112
func TestShortMessages(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, testDirs(t))
	get[api.Session](d, "POST", "/sessions", api.NewSession{Name: "one", Argv: []string{"sh", "-c", `while printf 'Go on? [y/N] '; read a; do sleep 1; done`}})
	b := d.openWeb(api.OpenWeb{})
	ws, _ := b.dial(b.ticket())
	say := func(v map[string]any) {
		t.Helper()
		if err := ws.WriteJSON(v); err != nil {
			t.Fatal(err)
		}
	}
	say(map[string]any{"t": "hello", "brief": true, "terse": true})
	say(map[string]any{"t": "sub", "id": 40, "s": "one"})
	asked := false // the session prompts, and the page got it
	again := 0
	typed, took := int64(0), int64(0)
	for again < 2 || took < typed {
		_, m, err := ws.ReadMessage()
		if err != nil {
			t.Fatalf("%v; prompts %v, %d times again; %d of %d arrived", err, asked, again, took, typed)
		}
		asks := bytes.Contains(m, []byte(`"needs_input":{"kind":"confirm"`))
		switch {
		case bytes.HasPrefix(m, []byte("=14,")): // the subscription in base 36
			if took, err = strconv.ParseInt(string(m[4:]), 36, 64); err != nil || took > typed {
				t.Fatalf("%q, %d were typed", m, typed)
			}
		case m[0] == '!': // nothing, then the same again: the kind is not sent
			if parts := strings.SplitN(string(m), ",", 3); len(parts) == 3 {
				if asks = true; parts[2] == "" {
					again++
				} else if again > 0 {
					t.Errorf("%q repeats known state", m)
				}
			}
		case m[0] == '{':
			var v struct{ T string }
			if err := json.Unmarshal(m, &v); err != nil || v.T == "ok" || v.T == "err" {
				t.Fatalf("%s: %v", m, err)
			}
		}
		if asks {
			asked = true
			for range 2 {
				typed++
				say(map[string]any{"t": "text", "id": 40, "text": "n", "q": typed, "u": strconv.FormatInt(typed, 10)})
			}
			typed++
			say(map[string]any{"t": "key", "id": 40, "k": "Enter", "q": typed, "u": strconv.FormatInt(typed, 10)})
		}
	}
}

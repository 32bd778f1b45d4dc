//go:build unix

package daemon

import (
	"bytes"
	"encoding/json"
	"image/png"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// images waits for what a page is told of images: the parts that its styles are, and those that it asks for.
func (t *tab) images(until func(parts [][]any, got map[string][]byte) bool) (parts [][]any, got map[string][]byte) {
	t.t.Helper()
	got = map[string][]byte{}
	for !until(parts, got) {
		_, b, err := t.ws.ReadMessage()
		if err != nil {
			t.t.Fatal(err)
		}
		if b[0] != '{' {
			continue
		}
		var m struct {
			T, K   string
			ID     int
			N      uint64
			PNG    []byte
			Styles [][2]json.RawMessage
		}
		if err := json.Unmarshal(b, &m); err != nil {
			t.t.Fatal(err)
		}
		switch m.T {
		case "f":
			t.say(map[string]any{"t": "ack", "id": m.ID, "n": m.N})
		case "img":
			got[m.K] = m.PNG
		}
		for _, d := range m.Styles {
			var st struct{ I []any }
			if err := json.Unmarshal(d[1], &st); err != nil {
				t.t.Fatal(err)
			}
			if st.I != nil {
				parts = append(parts, st.I)
			}
		}
	}
	return parts, got
}

// An image that a program placed is told of by a key, row by row, and sent when the page asks for it: only that
// one, and as the daemon made it.
//
// FEATURES: R112
func TestImagesOnThePage(t *testing.T) {
	d := startDaemon(t, testDirs(t))
	sixel := `\033Pq"1;1;20;36#1;2;100;0;0` + strings.Repeat(`!20~-`, 5) + `!20~\033\\`
	get[api.Session](d, "POST", "/sessions", api.NewSession{Name: "one", Argv: []string{"sh", "-c", "printf 'ab" + sixel + "'; exec cat"}, Cols: 40, Rows: 10})
	get[api.Session](d, "POST", "/sessions", api.NewSession{Name: "two", Argv: []string{"cat"}, Cols: 40, Rows: 10})
	b := d.openWeb(api.OpenWeb{})
	page := b.open(0)
	page.say(map[string]any{"t": "sub", "id": 1, "s": "one"})
	parts, _ := page.images(func(parts [][]any, _ map[string][]byte) bool { return len(parts) >= 2 })
	key, _ := parts[0][0].(string)
	cols, rows := parts[0][3].(float64), parts[0][4].(float64)
	if len(key) != 24 || cols != 2.5 || rows != 2.25 || parts[1][0] != key || parts[0][1] != 0.0 || parts[0][2] != 0.0 || parts[1][2] != 1.0 {
		t.Fatalf("%v", parts)
	}
	for _, k := range []string{strings.Repeat("0", 24), strings.Repeat("x", 5000), key} {
		page.say(map[string]any{"t": "img", "k": k})
	}
	_, got := page.images(func(_ [][]any, got map[string][]byte) bool { return got[key] != nil })
	pic, err := png.Decode(bytes.NewReader(got[key]))
	if err != nil || pic.Bounds().Dx() != 20 || pic.Bounds().Dy() != 36 {
		t.Fatalf("%v, %v", pic, err)
	}
	if r, g, _, a := pic.At(5, 5).RGBA(); r != 0xffff || g != 0 || a != 0xffff {
		t.Errorf("a pixel is %v", pic.At(5, 5))
	}
	if len(got) != 2 || got[strings.Repeat("0", 24)] != nil {
		t.Errorf("answers for %d keys", len(got))
	}
	other := b.open(0) // shows another session
	other.say(map[string]any{"t": "sub", "id": 1, "s": "two"})
	other.say(map[string]any{"t": "img", "k": key})
	if _, got := other.images(func(_ [][]any, got map[string][]byte) bool { _, told := got[key]; return told }); got[key] != nil {
		t.Error("a page was given an image of a session that it does not show")
	}
}

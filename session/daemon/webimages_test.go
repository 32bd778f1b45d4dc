//go:build unix

package daemon

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/vterm"
)

// images waits for a page's messages about images: the parts in its styles, and those that it requests.
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

// TestImagesOnThePage checks that an image that a program placed is announced by a key, row by row, and sent when the
// page requests it: only that one, unchanged.
//
// FEATURES: R112
func TestImagesOnThePage(t *testing.T) {
	t.Parallel()
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

// TestImagesOfHistory checks that an image that scrolled away is announced with the lines of history that show it, and
// sent by its key and session: now, and for a time at which it existed. A deleted one is reported as such.
//
// FEATURES: R112
func TestImagesOfHistory(t *testing.T) {
	t.Parallel()
	tier.Full(t)
	d := startDaemon(t, testDirs(t))
	get[api.Session](d, "POST", "/sessions", api.NewSession{Name: "one", Argv: []string{"sh", "-c",
		`stty -echo; printf 'ab\033_Ga=T,q=2,i=7,f=24,s=1,v=2,c=3,r=4;/wAAAAD/\033\\'; seq 100; echo ready; read x; printf '\033_Ga=d,d=I,q=2,i=7\033\\'; echo gone; exec cat`}, Cols: 40, Rows: 10})
	until := func(text string) {
		t.Helper()
		get[api.Waited](d, "POST", "/sessions/one/wait", api.Wait{Conds: []api.Condition{{Kind: "text", Text: text}}, Since: new(uint64)})
	}
	history := func(query string) (got []render.Line) {
		t.Helper()
		return get[render.Screen](d, "GET", "/sessions/one/screen?since=1000000000000000&scrollback="+query, nil).Scrollback
	}
	until("ready")
	moment := fmt.Sprint(get[api.OutputText](d, "GET", "/sessions/one/output/text", nil).Next)
	var key string
	for query, rows := range map[string][]int{"0:3&pictures=true": {0, 1, 2}, "2:50&pictures=true": {2, 3}, "3:4&pictures=true&at=" + moment: {3}, "0:4": nil} {
		lines, first := history(query), 0
		if strings.HasPrefix(query, "2") || strings.HasPrefix(query, "3") {
			first = int(query[0] - '0')
		}
		var seen []int
		for i, l := range lines {
			for _, p := range l.Pictures {
				key = p.Key
				seen = append(seen, first+i)
				if want := (render.Picture{Key: key, Col: 2, Width: 3, Y: first + i, Cols: 3, Rows: 4}); p != want || len(key) != 24 {
					t.Errorf("%s: row %d: %+v, want %+v", query, l.Row, p, want)
				}
			}
		}
		if !slices.Equal(seen, rows) {
			t.Errorf("%s: images in lines %v, want %v", query, seen, rows)
		}
	}
	b := d.openWeb(api.OpenWeb{})
	page := b.open(0)
	asks := func(m map[string]any) []byte {
		t.Helper()
		m["t"], m["k"] = "img", key
		page.say(m)
		var told []byte
		page.images(func(_ [][]any, got map[string][]byte) bool {
			var is bool
			told, is = got[key]
			return is
		})
		return told
	}
	for _, c := range []struct {
		what string
		ask  map[string]any
		is   bool
	}{
		{"of no session", map[string]any{}, false},
		{"of one that is none", map[string]any{"s": "two"}, false},
		{"now", map[string]any{"s": "one"}, true},
		{"then", map[string]any{"s": "one", "at": moment}, true},
		{"at an offset", map[string]any{"s": "one", "at": 1}, false},
		{"at no moment", map[string]any{"s": "one", "at": "never"}, false},
	} {
		told := asks(c.ask)
		if pic, err := png.Decode(bytes.NewReader(told)); (told != nil) != c.is || c.is && (err != nil || pic.Bounds().Dx() != 1 || pic.Bounds().Dy() != 2) {
			t.Errorf("%s: %d bytes, %v", c.what, len(told), err)
		}
	}
	get[struct{}](d, "POST", "/sessions/one/input", api.Input{Text: "\r"})
	until("gone")
	for _, l := range history("0:4&pictures=true") {
		if want := []render.Picture{{Col: 2, Width: 3, Cols: 3, Rows: 1}}; !slices.Equal(l.Pictures, want) {
			t.Errorf("row %d of a deleted image: %+v", l.Row, l.Pictures)
		}
	}
	if asks(map[string]any{"s": "one"}) != nil {
		t.Error("an image that was deleted is sent")
	}
	if asks(map[string]any{"s": "one", "at": moment}) == nil {
		t.Error("an image that was there then is not sent")
	}
}

// TestImagesOfARecording checks that a reader in the middle of the history, such as a pane in time travel, gets the
// images that were on the screen then.
//
// FEATURES: R123, R38
func TestImagesOfARecording(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, testDirs(t))
	sixel := `\033Pq"1;1;40;48#1;2;100;0;0` + strings.Repeat(`#1!40~-`, 8) + `\033\\`
	get[api.Session](d, "POST", "/sessions", api.NewSession{Name: "one", Argv: []string{"sh", "-c",
		"stty -echo; printf 'ab" + sixel + "\\n'; echo ready; read x; printf '\\033[2J" + sixel + "after'; exec cat"}, Cols: 40, Rows: 10})
	at := get[api.Waited](d, "POST", "/sessions/one/wait", api.Wait{Conds: []api.Condition{{Kind: "text", Text: "ready"}}, Since: new(uint64)}).Cursor
	d.ask("POST", "/sessions/one/input", api.Input{Text: "go\n"})
	get[api.Waited](d, "POST", "/sessions/one/wait", api.Wait{Conds: []api.Condition{{Kind: "text", Text: "after"}}, Since: new(uint64)})
	a := d.ask("GET", fmt.Sprintf("/sessions/one/records?from=%d", at), nil)
	if a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	rows := func(e vterm.Engine) (rows []int) {
		var f vterm.Frame
		e.Frame(&f, vterm.Query{})
		var s render.Screen
		render.FromFrame(&s, &f)
		(&render.Blocks{Images: true}).Show(t.Context(), &s)
		for _, l := range s.Lines {
			if len(l.Pictures) > 0 && strings.Contains(l.Spans[len(l.Spans)-1].Text, "▀▀▀▀▀") && l.Spans[len(l.Spans)-1].FG == "#ff0000" {
				rows = append(rows, l.Row)
			}
		}
		return rows
	}
	e := vterm.New(vterm.Options{Cols: 40, Rows: 10})
	for dec, n := json.NewDecoder(bytes.NewReader(a.body)), 0; ; n++ {
		var r api.Record
		if err := dec.Decode(&r); err != nil {
			t.Fatal(err)
		}
		_, _ = e.Write(r.Data)
		if got := rows(e); n == 0 && !slices.Equal(got, []int{0, 1, 2}) {
			t.Errorf("at first there are images in the rows %v: %q", got, r.Data)
		}
		if r.Kind == "end" {
			break
		}
	}
	if got := rows(e); len(got) != 2 { // its last row has text behind it
		t.Errorf("at last there are images in the rows %v", got)
	}
}

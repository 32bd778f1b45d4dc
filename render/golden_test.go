package render

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// goldens lists screens of which every form is pinned in testdata/golden.
var goldens = map[string]string{
	"empty":  "",
	"prompt": "\x1b]2;a title\x07$ ls\r\nfile  other \r\n$ \x1b[5 q",
	"styles": "\x1b[1mbold\x1b[22;2mdim\x1b[22;3mitalic\x1b[23;4mline\x1b[4:3mcurly\x1b[24;7minverse\x1b[27;9mstrike\x1b[29;53mover\x1b[m\r\n" +
		"\x1b[31;42mindex\x1b[38;5;208mcube\x1b[38;2;1;2;3;48;2;250;251;252mrgb\x1b[0;4;58:2::7:8:9mul\x1b[m\r\n" +
		"\x1b[44m\x1b[K\x1b[m\r\n\x1b]8;id=x;https://example.org/?a=1;2\x1b\\link\x1b]8;;\x1b\\ text",
	"unicode": "你好A e\u0301 👩\u200d👩\u200d👧 한글\r\n12345678901234567890123456789你\r\n\x1b#6wide line",
	"wrapped": "a line that is longer than the screen is wide, so that it goes on in the next rows\r\nend",
	"alt":     "shell\x1b[?1049h\x1b[2;3H\x1b[7mstatus\x1b[m\x1b[?25l",
}

// FEATURES: R30, R31, R32, R33, R36
func TestGolden(t *testing.T) {
	for name, output := range goldens {
		t.Run(name, func(t *testing.T) {
			got := forms(t, output)
			file := filepath.Join("testdata", "golden", name+".golden")
			if *update {
				fail(t, os.MkdirAll(filepath.Dir(file), 0o755))
				fail(t, os.WriteFile(file, got, 0o644))
			}
			want, err := os.ReadFile(file)
			fail(t, err)
			if !bytes.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s\n(go test ./render -run Golden -update accepts it)", got, want)
			}
		})
	}
}

// forms is a screen in all forms. Control sequences are quoted, one row a line.
func forms(t *testing.T, output string) []byte {
	t.Helper()
	f := frameOf(native(30, 6), output)
	f.Version = 7 // how versions are counted is not render's business
	var s Screen
	FromFrame(&s, f)
	var b bytes.Buffer
	section := func(name string, text []byte) {
		fmt.Fprintf(&b, "== %s\n%s\n", name, bytes.TrimSuffix(text, []byte("\n")))
	}
	section("text", Text(nil, &s, TextOptions{}))
	section("lines", Text(nil, &s, TextOptions{Unwrap: true}))
	section("dump", quoteRows(AppendANSI(nil, f, ANSIOptions{})))
	section("repaint", quoteRows(AppendANSI(nil, f, ANSIOptions{Repaint: true})))
	section("repaint, same size", quoteRows(AppendANSI(nil, f, ANSIOptions{Repaint: true, Exact: true})))
	section("json", bytes.ReplaceAll(AppendJSON(nil, &s), []byte(`{"row"`), []byte("\n"+`{"row"`)))
	compat, err := json.Marshal(Compat(&s))
	fail(t, err)
	section("gemini", bytes.ReplaceAll(compat, []byte("],["), []byte("],\n[")))
	return b.Bytes()
}

func quoteRows(seq []byte) []byte {
	var out []string
	for row := range strings.Lines(string(seq)) {
		out = append(out, strconv.Quote(row))
	}
	return []byte(strings.Join(out, "\n"))
}

package web

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/longterm-dev/longterm/render/boxdraw"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestPage_DrawsBoxesLikeImages checks that the page draws joining characters like images do, at any cell size.
//
// FEATURES: R36, R112
func TestPage_DrawsBoxesLikeImages(t *testing.T) {
	const script = `import { drawn, shape } from './box.js';
const out = [];
for (const [w, h, t] of [[8, 16, 1], [9, 18, 1], [17, 35, 2]])
  for (let cp = 0x2000; cp < 0x20000; cp++) if (drawn(cp)) out.push({ cp, w, h, t, ...shape(cp, w, h, t) });
console.log(JSON.stringify(out));`
	b := runModule(t, script, "box.js", "tables_gen.js")
	var got []struct {
		CP      rune
		W, H, T float32
		Path    string
		Alpha   float64
	}
	if err := json.Unmarshal(b, &got); err != nil || len(got) < 3*500 {
		t.Fatalf("%d shapes, %v", len(got), err)
	}
	differ := 0
	for _, g := range got {
		want, ok := boxdraw.Draw(g.CP, g.W, g.H, g.T)
		path := string(want.AppendSVG(nil, 0, 0))
		if !ok || g.Path != path || int(g.Alpha*255+0.5) != int(want.Alpha) {
			if differ++; differ < 10 {
				t.Errorf("%U in %v×%v: %s, want %s", g.CP, g.W, g.H, g.Path, path)
			}
		}
	}
	if differ > 0 {
		t.Errorf("got %d different shapes of %d", differ, len(got))
	}
}

// runModule returns the output of a script that imports files of the page as modules.
func runModule(t *testing.T, script string, files ...string) []byte {
	t.Helper()
	node := tier.Path(t, "node")
	dir := t.TempDir() // without a package.json that makes .js something else than modules
	texts := map[string]string{"package.json": `{"type":"module"}`}
	for _, name := range files {
		texts[name] = readPage(t, name)
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), node, "--input-type=module", "--no-warnings", "-e", script)
	cmd.Dir = dir
	b, err := cmd.Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			t.Logf("%s", failed.Stderr)
		}
		t.Fatal(err)
	}
	return b
}

// readPage returns the source of a file of the page.
func readPage(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("page/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

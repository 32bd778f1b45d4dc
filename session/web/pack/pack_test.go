package pack

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPage checks that modules are bundled into their importers, that dynamic imports stay separate, and that other
// files are omitted.
func TestPage(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"app.js": "import { one } from './a.js';\nconst late = () => import('./rare.js');\none(late);\n", "a.js": "// A note.\nexport function one(given) { given(document.body); }\n",
		"rare.js": "export const x = '{{assets}}';\n", "style.css": "@import './theme_gen.css';\na { color: red }\n", "theme_gen.css": "b {\n  color: blue\n}\n",
		"icon.svg": "<svg/>", "notes.md": "no",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := BuildPage(dir)
	if err != nil || len(files) != 4 {
		t.Fatalf("%q, %v", files, err)
	}
	if app := string(files["app.js"]); strings.Contains(app, "note") || !strings.Contains(app, `import("./rare.js")`) || !strings.Contains(app, "document.body") || len(app) > 80 {
		t.Errorf("%s", app)
	}
	if style := string(files["style.css"]); style != "b{color:#00f}a{color:red}\n" {
		t.Errorf("%s", style)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.js"), []byte("export const two = 2;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := BuildPage(dir); err == nil || !strings.Contains(err.Error(), "one") {
		t.Errorf("missing export: got %v", err)
	}
}

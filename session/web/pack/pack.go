// Package pack makes of the page's sources what a browser is sent: modules as one script, without what only people read,
// and packed once. It runs when files are generated (go generate ./session/web), and is no part of the program.
package pack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// kinds are the endings of files that are served: notes and tests beside them are not.
var kinds = []string{".html", ".js", ".css", ".svg", ".webmanifest"}

// apart are scripts and styles of their own; all others are in one of these.
var apart = []string{"app.js", "style.css", "rare.js", "old.js", "sw.js"}

// inOrder are the modules in the page's script, each with what it needs before it: what is alike stands where it packs
// best, which was found by trying (190 bytes). One that is not named stands where it is needed.
var inOrder = []string{
	"box", "ui", "screen", "cast", "input", "images", "term", "net", "tables_gen", "list",
	"grid", "timebar", "store", "panels", "history", "session", "notify",
}

// private are members of classes that only the page's script itself knows: they have short names in what is sent (250
// bytes). None may be a name of the browser's, of messages or of answers, or be used by tests or by scripts apart.
const private = "^(?:" +
	"advance|alone|alpha|apply|arrived|arrows|asking|attention|bare|become|build|catching|cell|cellAt|cls|" +
	"current|dead|define|delay|drag|edit|empty|fits|flood|fresh|gone|heads|heavy|heightChanged|held|inks|keyRow|" +
	"keyboard|known|layout|leave|lift|light|linkChanged|listen|loading|marks|mayType|measuring|moment|nextQ|nextSub|" +
	"nowButton|offState|onstep|onsticky|paint|patience|pics|pinch|place|playButton|problems|puts|regexp|release|" +
	"releases|resize|runs|scrolled|scrolls|seen|setButton|setFit|side|sig|sizeKey|sizes|soon|speed|speedButton|stage|" +
	"stale|stepping|sticky|subscribe|sure|telling|thin|tick|tiles|timeButton|timePlace|toTerm|todo|toggleTime|" +
	"turn|typed|types|under|unique|update|visible|wants|was|watch|watcher|went|wheel|whole|zoom" +
	")$"

// Page makes the files of the page of those in a directory.
func Page(dir string) (map[string][]byte, error) {
	out := map[string][]byte{}
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		name := filepath.Base(file)
		if err != nil || d.IsDir() || !slices.Contains(kinds, path.Ext(name)) {
			return err
		}
		switch code := path.Ext(name) == ".js" || path.Ext(name) == ".css"; {
		case slices.Contains(apart, name):
			out[name], err = build(file)
		case !code:
			out[name], err = os.ReadFile(file)
			if path.Ext(name) == ".webmanifest" && err == nil {
				var short bytes.Buffer
				err = json.Compact(&short, out[name])
				out[name] = short.Bytes()
			}
		}
		return err
	})
	return out, err
}

// build makes one file of a script or style and all that it imports, but what it imports by a call: that stays apart.
func build(file string) ([]byte, error) {
	o := api.BuildOptions{
		EntryPoints: []string{file}, Bundle: true, Charset: api.CharsetUTF8, LegalComments: api.LegalCommentsNone,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true, Format: api.FormatESModule, Target: api.ES2022,
	}
	name := filepath.Base(file)
	for _, other := range apart {
		if other != name {
			o.External = append(o.External, "./"+other)
		}
	}
	switch name {
	case "old.js": // every browser can read it
		o.Format, o.Target = api.FormatDefault, api.ES5
	case "app.js":
		entry, dir := "", filepath.Dir(file)
		for _, module := range slices.Concat(inOrder, []string{"app"}) {
			if _, err := os.Stat(filepath.Join(dir, module+".js")); err == nil {
				entry += "import './" + module + ".js';\n"
			}
		}
		o.EntryPoints, o.Stdin = nil, &api.StdinOptions{Contents: entry, ResolveDir: dir}
		o.MangleProps = private
	}
	r := api.Build(o)
	if len(r.Errors) > 0 {
		var said []error
		for _, text := range api.FormatMessages(r.Errors, api.FormatMessagesOptions{}) {
			said = append(said, errors.New(strings.TrimSpace(text)))
		}
		return nil, errors.Join(said...)
	}
	if len(r.OutputFiles) != 1 {
		return nil, fmt.Errorf("%s: %d files come of it", name, len(r.OutputFiles))
	}
	return r.OutputFiles[0].Contents, nil
}

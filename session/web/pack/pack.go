// Package pack bundles and minifies the sources of the page for browsers. It runs when files are generated (go generate ./session/web), and is no part of the program.
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

// kinds are the suffixes of served files; notes and tests next to them are not served.
var kinds = []string{".html", ".js", ".css", ".svg", ".webmanifest"}

// separate lists the scripts and styles that are not bundled with the others.
var separate = []string{"app.js", "style.css", "rare.js", "old.js", "sw.js"}

// Page makes the files of the page of those in a directory.
func Page(dir string) (map[string][]byte, error) {
	out := map[string][]byte{}
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		name := filepath.Base(file)
		if err != nil || d.IsDir() || !slices.Contains(kinds, path.Ext(name)) {
			return err
		}
		switch code := path.Ext(name) == ".js" || path.Ext(name) == ".css"; {
		case slices.Contains(separate, name):
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

// build bundles a script or style with its imports. Dynamic imports stay separate.
func build(file string) ([]byte, error) {
	o := api.BuildOptions{
		EntryPoints: []string{file}, Bundle: true, Charset: api.CharsetUTF8, LegalComments: api.LegalCommentsNone,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true, Format: api.FormatESModule, Target: api.ES2022,
	}
	name := filepath.Base(file)
	for _, other := range separate {
		if other != name {
			o.External = append(o.External, "./"+other)
		}
	}
	if name == "old.js" { // every browser can read it
		o.Format, o.Target = api.FormatDefault, api.ES5
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

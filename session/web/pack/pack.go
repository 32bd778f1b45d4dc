// Package pack bundles and minifies the sources of the page for browsers. It runs when files are generated (go generate ./session/web), and is not part of the program.
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

// servedSuffixes are the suffixes of served files; notes and tests next to them are not served.
var servedSuffixes = []string{".html", ".js", ".css", ".svg", ".webmanifest"}

// entryPoints are the scripts and styles that are served; others are bundled into them.
var entryPoints = []string{"app.js", "style.css", "rare.js", "old.js", "sw.js"}

// BuildPage returns the served files of the page, built from a directory.
func BuildPage(dir string) (map[string][]byte, error) {
	out := map[string][]byte{}
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		name := filepath.Base(file)
		if err != nil || d.IsDir() || !slices.Contains(servedSuffixes, path.Ext(name)) {
			return err
		}
		switch code := path.Ext(name) == ".js" || path.Ext(name) == ".css"; {
		case slices.Contains(entryPoints, name):
			out[name], err = bundle(file)
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

// bundle bundles a script or style with its imports. Dynamic imports stay separate.
func bundle(file string) ([]byte, error) {
	o := api.BuildOptions{
		EntryPoints: []string{file}, Bundle: true, Charset: api.CharsetUTF8, LegalComments: api.LegalCommentsNone,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true, Format: api.FormatESModule, Target: api.ES2022,
	}
	name := filepath.Base(file)
	for _, other := range entryPoints {
		if other != name {
			o.External = append(o.External, "./"+other)
		}
	}
	if name == "old.js" { // for every browser
		o.Format, o.Target = api.FormatDefault, api.ES5
	}
	r := api.Build(o)
	if len(r.Errors) > 0 {
		var errs []error
		for _, text := range api.FormatMessages(r.Errors, api.FormatMessagesOptions{}) {
			errs = append(errs, errors.New(strings.TrimSpace(text)))
		}
		return nil, errors.Join(errs...)
	}
	if len(r.OutputFiles) != 1 {
		return nil, fmt.Errorf("%s: %d files come of it", name, len(r.OutputFiles))
	}
	return r.OutputFiles[0].Contents, nil
}

package web

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// The page is written as modules, and sent as one file: a browser would ask for them one behind the other, and packed
// together they are a fifth smaller. Bundling is done once, when the files are read; nobody has to build anything.
//
// What is understood is how the modules here are written, one statement a line, and all else is an error:
//
//	import { a, b as c } from './x.js';
//	import * as x from './x.js';
//	export const a = …   export function a…   export async function a…   export class a…
//
// Each module becomes a function that is called once and returns what it exports. Modules must not import each other
// in a circle. A module that is imported by a call (import('./x.js')) stays a file.
var (
	importSome = pattern.Lazy(`^import \{ (.+) \} from '\./([\w.]+)';$`)
	importAll  = pattern.Lazy(`^import \* as (\w+) from '\./([\w.]+)';$`)
	exported   = pattern.Lazy(`^export ((?:async )?function\*? |const |class )(\w+)`)
	imported   = pattern.Lazy(`import\('\./([\w.]+)'\)`)
)

// bundle replaces entry among the files by what it and all that it imports make together, and takes those out.
func bundle(files map[string][]byte, entry string) error {
	if files[entry] == nil {
		return nil
	}
	b := bundler{files: files, state: map[string]int{}}
	if err := b.add(entry); err != nil {
		return err
	}
	for name := range b.state {
		if !b.apart[name] {
			delete(files, name)
		}
	}
	files[entry] = b.out.Bytes()
	for name, content := range files {
		switch ext := path.Ext(name); {
		case ext == ".css":
			files[name] = []byte(squeezeStyle(string(content)))
		case ext == ".js" && name != entry:
			files[name] = []byte(squeezeScript(string(content)))
		}
	}
	return nil
}

type bundler struct {
	files map[string][]byte
	state map[string]int // 1: being added, 2: added
	apart map[string]bool
	out   bytes.Buffer
}

// variable is what a module's exports are kept in.
func variable(name string) string {
	return "$" + strings.TrimSuffix(strings.ReplaceAll(name, ".", "_"), "_js")
}

func (b *bundler) add(name string) error {
	switch b.state[name] {
	case 1:
		return fmt.Errorf("%s: modules import each other in a circle", name)
	case 2:
		return nil
	}
	text, ok := b.files[name]
	if !ok {
		return fmt.Errorf("%s: there is no such module", name)
	}
	b.state[name] = 1
	var body bytes.Buffer
	var exports []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		from := ""
		switch {
		case importSome.MatchString(line):
			m := importSome.FindStringSubmatch(line)
			from = m[2]
			line = "const {" + strings.ReplaceAll(strings.ReplaceAll(m[1], " as ", ":"), ", ", ",") + "}=" + variable(from) + ";"
		case importAll.MatchString(line):
			m := importAll.FindStringSubmatch(line)
			from = m[2]
			line = "const " + m[1] + "=" + variable(from) + ";"
		case exported.MatchString(line):
			m := exported.FindStringSubmatch(line)
			exports = append(exports, m[2])
			line = strings.TrimPrefix(line, "export ")
		case strings.HasPrefix(line, "import ") || strings.HasPrefix(line, "export "):
			return fmt.Errorf("%s: %q is not written as bundling understands it", name, line)
		}
		if strings.Count(line, "`")%2 != 0 {
			return fmt.Errorf("%s: %q: a template goes over several lines", name, line)
		}
		for _, m := range imported.FindAllStringSubmatch(line, -1) {
			if b.apart == nil {
				b.apart = map[string]bool{}
			}
			b.apart[m[1]] = true
		}
		if from != "" {
			if err := b.add(from); err != nil {
				return fmt.Errorf("%s, by %w", name, err)
			}
		}
		body.WriteString(line + "\n")
	}
	fmt.Fprintf(&b.out, "const %s=(()=>{%s\nreturn{%s}})();\n", variable(name), squeezeScript(body.String()), strings.Join(exports, ","))
	b.state[name] = 2
	return nil
}

package web

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// The page is written as modules, and sent as one file: a browser would ask for them one behind the other, and packed
// together they are a fifth smaller. Bundling is done once, when the files are read; nobody has to build anything.
//
// What is understood is how the modules here are written, one statement a line, and all else is an error:
//
//	import { a, b } from './x.js';
//	export const a = …   export function a…   export async function a…   export class a…
//
// The modules become one, in the order in which they need each other. What stands at the beginning of a line in one of them
// is known to all then: two must not declare the same, nor a name that browsers have, as another may mean that. Modules must
// not import each other in a circle. A module that is imported by a call (import('./x.js')) stays a file.
var (
	importSome = pattern.Lazy(`^import \{ \w+(?:, \w+)* \} from '\./([\w.]+)';$`)
	exported   = pattern.Lazy(`^export (?:(?:async )?function\*? |const |class )\w+`)
	imported   = pattern.Lazy(`import\('\./([\w.]+)'\)`)
	declares   = pattern.Lazy(`^(?:(const|let|var) |(?:async )?function\*? |class )(.+)`)
	word       = pattern.Lazy(`[\w$]+`)
)

// browsers are names that browsers have.
var browsers = strings.Fields("alert atob blur btoa caches close closed confirm crypto document event external fetch find focus frames history length " +
	"location menubar name navigator open opener origin parent performance print prompt screen scroll self status stop toolbar top window")

// bundle replaces entry among the files by what it and all that it imports make together, and takes those out.
func bundle(files map[string][]byte, entry string) error {
	if files[entry] == nil {
		return nil
	}
	b := bundler{files: files, state: map[string]int{}, apart: map[string]bool{}, names: map[string]string{}}
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
	names map[string]string // what was declared, and by which module
	out   bytes.Buffer
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
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if m := importSome.FindStringSubmatch(line); m != nil {
			if err := b.add(m[1]); err != nil {
				return fmt.Errorf("%s, by %w", name, err)
			}
			continue
		}
		if exported.MatchString(line) {
			line = strings.TrimPrefix(line, "export ")
		}
		if strings.HasPrefix(line, "import ") || strings.HasPrefix(line, "export ") {
			return fmt.Errorf("%s: %q is not written as bundling understands it", name, line)
		}
		if strings.Count(line, "`")%2 != 0 {
			return fmt.Errorf("%s: %q: a template goes over several lines", name, line)
		}
		for _, n := range declared(line) {
			if by, twice := b.names[n]; twice {
				return fmt.Errorf("%s: %s is declared by %s as well", name, n, by)
			}
			if slices.Contains(browsers, n) {
				return fmt.Errorf("%s: %s is a name that browsers have", name, n)
			}
			b.names[n] = name
		}
		for _, m := range imported.FindAllStringSubmatch(line, -1) {
			b.apart[m[1]] = true
		}
		body.WriteString(line + "\n")
	}
	b.out.WriteString(squeezeScript(body.String()) + "\n")
	b.state[name] = 2
	return nil
}

// declared are the names that a statement declares at the beginning of its line.
func declared(line string) (names []string) {
	m := declares.FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	if m[1] == "" {
		return []string{word.FindString(m[2])}
	}
	// Names stand before a = and behind a comma, unless that is within brackets; { a, b } = … declares those within.
	depth, value := 0, false
	for rest := m[2]; rest != ""; {
		n := 1
		switch c := rest[0]; {
		case c == '\'' || c == '"' || c == '`':
			n = closing(rest, c)
		case strings.HasPrefix(rest, "//"):
			return names
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		case c == ';' && depth == 0:
			return names
		case c == ',' && depth == 0:
			value = false
		case c == '=' && depth == 0:
			value = true
		case isWord(c):
			w := word.FindString(rest)
			if n = len(w); !value {
				names = append(names, w)
			}
		}
		rest = rest[n:]
	}
	return names
}

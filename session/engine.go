package session

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/vt10x"
)

// DefaultEngine is the emulator of sessions that do not name one.
const DefaultEngine = "native"

// engines are the emulators by name.
var engines = map[string]func(vterm.Options) vterm.Engine{
	"native": func(o vterm.Options) vterm.Engine { return vterm.New(o) },
	"vt10x":  func(o vterm.Options) vterm.Engine { return vt10x.New(o) },
}

// NewEngine makes an emulator by name; empty is the default.
func NewEngine(name string, o vterm.Options) (vterm.Engine, error) {
	if name == "" {
		name = DefaultEngine
	}
	if f, ok := engines[name]; ok {
		return f(o), nil
	}
	return nil, fmt.Errorf("unknown engine %q; there are: %s", name, strings.Join(EngineNames(), ", "))
}

// EngineNames lists the emulators.
func EngineNames() []string { return slices.Sorted(maps.Keys(engines)) }

package config

import (
	"slices"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/session/config/tomldoc"
)

// key decodes an entry of [keys].
func (d *decoder) key(it *tomldoc.Item) {
	name := strings.Join(it.Path, ".")
	text, isText := it.Data.(string)
	switch _, isTable := it.Data.(map[string]any); {
	case isTable && len(it.Path) == 1:
	case len(it.Path) != 2 || !isText:
		d.problem(it.Value, name, `found %s, want an action and its keys, as in zoom = "z"`, tomldoc.TypeName(it.Data))
	case !slices.Contains(actions(), it.Path[1]):
		d.problem(it.At, name, "the viewer has no such action%s; its help lists them", suggest(it.Path[1], actions()))
	default:
		for _, k := range strings.Fields(text) {
			if err := keymap.CheckChord(k); err != nil {
				d.problem(it.Value, name, "%v; keys are named as in C-Space, M-x, F5 or z, those without the prefix as in direct:M-x", err)
				return
			}
		}
		d.file.Settings.Keys[it.Path[1]] = text
		d.file.places[name] = it.At
	}
}

// actions returns the actions of the viewer's keys.
func actions() []string {
	var names []string
	for _, rows := range [][]keymap.Row{keymap.Prefix, keymap.Scroll} {
		for i := range rows {
			names = append(names, string(rows[i].Action))
		}
	}
	return names
}

// Chords returns the viewer's keys by action, in its form.
func (s *Settings) Chords() map[string][]string {
	chords := map[string][]string{}
	for action, keys := range s.Keys {
		chords[action] = strings.Fields(keys)
	}
	return chords
}

// checkKeys finds keys with two meanings.
func (d *decoder) checkKeys() {
	if len(d.file.Settings.Keys) == 0 {
		return
	}
	var err error
	for _, preset := range keymap.Presets() { // which one is taken may be a flag's choice
		if _, err = keymap.New(preset.With(d.file.Settings.Chords()), preset.Modes...); err != nil {
			break
		}
	}
	if err == nil {
		return
	}
	for _, action := range sortedKeys(d.file.Settings.Keys) { // report it at one of them
		if name := "keys." + action; strings.Contains(err.Error(), action) {
			d.problem(d.file.places[name], name, "%v", err)
			return
		}
	}
	d.problem(Place{}, "keys", "%v", err)
}

// theme decodes a colour of [themes.NAME].
func (d *decoder) theme(it *tomldoc.Item) {
	name := strings.Join(it.Path, ".")
	text, isText := it.Data.(string)
	switch _, isTable := it.Data.(map[string]any); {
	case isTable && len(it.Path) < 3:
		return
	case len(it.Path) == 3 && !slices.Contains(partNames(), it.Path[2]):
		d.problem(it.At, name, "a theme has no such part%s; there are %s", suggest(it.Path[2], partNames()), strings.Join(partNames(), ", "))
		return
	case len(it.Path) != 3:
		d.problem(it.At, name, `colours belong in a theme's section: [themes.NAME], for example background = "#202020"`)
		return
	}
	if n, isNumber := it.Data.(int64); isNumber {
		text, isText = strconv.FormatInt(n, 10), true
	}
	if _, ok := theme.Colour(text); !isText || !ok {
		d.problem(it.Value, name, `%s is no colour; give "#rrggbb", a number from 0 to 255, "default", or a name as in "red" or "bright-blue"`, quoteData(it.Data))
		return
	}
	themes := d.file.Settings.Themes
	if themes[it.Path[1]] == nil {
		themes[it.Path[1]] = map[string]string{}
	}
	themes[it.Path[1]][it.Path[2]] = text
	d.file.places[name] = it.At
}

func quoteData(data any) string {
	if s, ok := data.(string); ok {
		return strconv.Quote(s)
	}
	return tomldoc.TypeName(data)
}

// partNames returns the parts of a theme.
func partNames() []string {
	var names []string
	for _, p := range theme.Parts {
		names = append(names, p.Name)
	}
	return names
}

// AutoTheme is the theme as it was last, or what suits the terminal.
const AutoTheme = "auto"

// themeNames returns the known themes.
func (s *Settings) themeNames() []string {
	return append(append([]string{AutoTheme}, theme.Names()...), sortedKeys(s.Themes)...)
}

// checkTheme knows the themes by name.
func (d *decoder) checkTheme() {
	s := d.file.Settings
	if at, given := d.file.places["view.theme"]; given && !slices.Contains(s.themeNames(), s.View.Theme) {
		d.problem(at, "view.theme", "no theme %q%s; there are %s", s.View.Theme, suggest(s.View.Theme, s.themeNames()), strings.Join(s.themeNames(), ", "))
	}
	for _, name := range theme.Names() {
		for part := range s.Themes[name] {
			d.problem(d.file.places["themes."+name+"."+part], "themes."+name, "this is a built-in theme; give yours another name")
			break
		}
	}
}

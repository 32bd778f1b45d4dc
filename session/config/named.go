package config

import (
	"slices"
	"strconv"
	"strings"
)

// key is one of [keys].
func (d *decoder) key(it *item) {
	name := strings.Join(it.path, ".")
	text, isText := it.data.(string)
	switch _, isTable := it.data.(map[string]any); {
	case isTable && len(it.path) == 1:
	case len(it.path) != 2 || !isText:
		d.problem(it.value, name, `this is %s; it has to be an action and its keys, as in zoom = "C-Space z"`, typeName(it.data))
	default:
		if text != "" { // no key at all
			if err := checkKeys(text); err != nil {
				d.problem(it.value, name, "%v", err)
				return
			}
		}
		d.file.Settings.Keys[it.path[1]] = text
		d.file.places[name] = it.at
	}
}

// theme is a colour of [themes.NAME].
func (d *decoder) theme(it *item) {
	name := strings.Join(it.path, ".")
	text, isText := it.data.(string)
	switch _, isTable := it.data.(map[string]any); {
	case isTable && len(it.path) < 3:
		return
	case len(it.path) != 3:
		d.problem(it.at, name, `a colour stands in a theme's section: [themes.NAME], then as in background = "#202020"`)
		return
	}
	if n, isNumber := it.data.(int64); isNumber {
		text, isText = strconv.FormatInt(n, 10), true
	}
	if !isText || !isColour(text) {
		d.problem(it.value, name, `%s is no colour; give "#rrggbb", a number from 0 to 255, "default", or a name as in "red" or "bright-blue"`, quoteData(it.data))
		return
	}
	themes := d.file.Settings.Themes
	if themes[it.path[1]] == nil {
		themes[it.path[1]] = map[string]string{}
	}
	themes[it.path[1]][it.path[2]] = text
	d.file.places[name] = it.at
}

func quoteData(data any) string {
	if s, ok := data.(string); ok {
		return strconv.Quote(s)
	}
	return typeName(data)
}

var colourNames = []string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}

func isColour(s string) bool {
	if n, err := strconv.Atoi(s); err == nil {
		return n >= 0 && n < 256
	}
	if hex, ok := strings.CutPrefix(s, "#"); ok {
		_, err := strconv.ParseUint(hex, 16, 32)
		return err == nil && (len(hex) == 6 || len(hex) == 3)
	}
	name := strings.TrimPrefix(strings.ToLower(s), "bright-")
	return s == "default" || slices.Contains(colourNames, name)
}

// checkTheme has nothing to say about built-in themes, whose names the viewer knows, but
// finds the name of an own one misspelt.
func (d *decoder) checkTheme() {
	s := d.file.Settings
	var own []string
	for name := range s.Themes {
		own = append(own, name)
	}
	slices.Sort(own)
	if at, given := d.file.places["view.theme"]; given && s.Themes[s.View.Theme] == nil {
		if near := suggest(s.View.Theme, own); near != "" {
			d.problem(at, "view.theme", "no theme %q%s", s.View.Theme, near)
		}
	}
}

package theme

// Background is a terminal's background colour.
type Background uint8

// Backgrounds.
const (
	UnknownBackground Background = iota
	DarkBackground
	LightBackground
)

// BackgroundOf returns the background for a colour scheme, "light" or "dark" as in vterm.Outer.
func BackgroundOf(scheme string) Background {
	switch scheme {
	case "light":
		return LightBackground
	case "dark":
		return DarkBackground
	}
	return UnknownBackground
}

func (g Background) String() string { return [...]string{"unknown", "dark", "light"}[g] }

package theme

// Ground is what a terminal has behind the text.
type Ground uint8

// Grounds.
const (
	UnknownGround Ground = iota
	DarkGround
	LightGround
)

// GroundOf returns the ground for a colour scheme, "light" or "dark" as in vterm.Outer.
func GroundOf(scheme string) Ground {
	switch scheme {
	case "light":
		return LightGround
	case "dark":
		return DarkGround
	}
	return UnknownGround
}

func (g Ground) String() string { return [...]string{"unknown", "dark", "light"}[g] }

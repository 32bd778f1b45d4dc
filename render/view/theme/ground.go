package theme

// Ground is what a terminal has behind the text.
type Ground uint8

// Grounds.
const (
	UnknownGround Ground = iota
	DarkGround
	LightGround
)

func (g Ground) String() string { return [...]string{"unknown", "dark", "light"}[g] }

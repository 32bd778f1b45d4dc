package api

// Sandbox says what a session's programs are kept from, and by what.
type Sandbox struct {
	Profile string   `json:"profile"`
	Level   string   `json:"level" enum:"landlock,userns,bwrap,docker,podman" doc:"what holds it"`
	Network string   `json:"network" enum:"off,on,hosts"`
	Hosts   []string `json:"hosts,omitempty" doc:"that may be reached"`
	Holds   []string `json:"holds" doc:"what is kept from the programs"`
	NotHeld []string `json:"not_held" doc:"what is not, at this level"`
}

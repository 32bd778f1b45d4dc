package api

// Sandbox says what a session's programs are kept from, and by what.
type Sandbox struct {
	Profile      string   `json:"profile"`
	Level        string   `json:"level" enum:"landlock,userns,bwrap,docker,podman" doc:"what holds it"`
	Network      string   `json:"network" enum:"off,on,hosts"`
	Hosts        []string `json:"hosts,omitempty" doc:"that may be reached"`
	Summary      string   `json:"summary,omitempty" doc:"what it comes to, in one line"`
	Holds        []string `json:"holds" doc:"what is kept from the programs"`
	NotHeld      []string `json:"not_held" doc:"what is not, at this level"`
	OnDifference string   `json:"on_difference,omitempty" enum:"deny,ask" doc:"what happens with hosts, and programs where some are listed, that are not listed"`
}

// NetworkAsk asks whether a session's programs may connect to a host.
type NetworkAsk struct {
	ID   string `json:"id,omitempty" maxLength:"64" pattern:"^[0-9A-Za-z-]*$" doc:"made by the caller: asked again with the same id it is the same asking"`
	Host string `json:"host" minLength:"1" maxLength:"253"`
	Port int    `json:"port" minimum:"1" maximum:"65535"`
}

package confine

// Observe records what a program does, without restricting it.
type Observe struct {
	// File gets a line of JSON per access (Observed), and a final line "end".
	File  string `json:"file"`
	Stage stage  `json:"stage,omitempty"`
}

// Observed is an access that an observed program made, or tried to make.
type Observed struct {
	Operation string `json:"did"`            // exec, read, write, make, connect, unix
	Path      string `json:"path,omitempty"` // absolute, as the program gave it
	Host      string `json:"host,omitempty"` // of connect: address and port
}

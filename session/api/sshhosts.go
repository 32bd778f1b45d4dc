package api

// SSHHost is a host in the configuration (hosts.names), reached over ssh.
type SSHHost struct {
	Host  string `json:"host" doc:"USER@HOST, or a name of ~/.ssh/config"`
	State string `json:"state" enum:"connected,idle" doc:"connected: the daemon has a connection to it"`
}

package api

import "time"

// RespondRule is a response rule: a pattern and the replies to it.
type RespondRule struct {
	Name       string         `json:"name,omitempty" maxLength:"128" doc:"name, unique among the session's rules; for removal"`
	Text       string         `json:"text,omitempty" doc:"literal text to find; this or regexp"`
	Regexp     string         `json:"regexp,omitempty" doc:"RE2; matches within one line"`
	On         string         `json:"on,omitempty" enum:"output,prompt,screen,cursor" doc:"where to look: unread output (default), its unfinished line only, the screen, or the screen's line with the cursor"`
	Region     *RespondRegion `json:"region,omitempty" doc:"part of the screen to search"`
	Reply      []RespondReply `json:"reply" minItems:"1"`
	Max        int            `json:"max,omitempty" minimum:"0" doc:"maximum number of uses; 0: no limit"`
	TimeoutMS  int64          `json:"timeout_ms,omitempty" minimum:"0" doc:"timeout of its first use"`
	CooldownMS int64          `json:"cooldown_ms,omitempty" minimum:"0" doc:"pause after each use"`
	Force      bool           `json:"force,omitempty" doc:"send secrets even while they are shown"`
	After      bool           `json:"after,omitempty" doc:"active after the previous rule reached its max, or matched once"`
}

// RespondRegion is a part of the screen, in cells, 0-based. Ends are exclusive; 0 is the screen's end.
type RespondRegion struct {
	Top    int `json:"top,omitempty" minimum:"0"`
	Bottom int `json:"bottom,omitempty" minimum:"0"`
	Left   int `json:"left,omitempty" minimum:"0"`
	Right  int `json:"right,omitempty" minimum:"0"`
}

// RespondReply is one reply of a rule.
type RespondReply struct {
	Kind   string `json:"kind" enum:"text,keys,secret,hook,fail,wait"`
	Value  string `json:"value,omitempty" doc:"text to type, keys as in yes<Enter>, reference to a secret, command line of a hook, or reason of a failure"`
	WaitMS int64  `json:"wait_ms,omitempty" minimum:"0" doc:"duration of a wait"`
}

// RespondRules are rules to attach to a session or a line.
type RespondRules struct {
	Rules   []RespondRule `json:"rules" minItems:"1" maxItems:"256"`
	Ordered bool          `json:"ordered,omitempty" doc:"each rule waits for the previous one"`
	// Secrets has the values of env: references, which only the client knows.
	Secrets map[string]string `json:"secrets,omitempty" doc:"values by reference, for each env:NAME; kept in memory until the daemon ends"`
}

// RespondAttached is a rule of a session.
type RespondAttached struct {
	RespondRule
	ID     string    `json:"id"`
	Uses   int       `json:"uses" doc:"number of uses"`
	Added  time.Time `json:"added"`
	Call   bool      `json:"call,omitempty" doc:"it ends with the line of its request"`
	Failed string    `json:"failed,omitempty" doc:"why it stopped"`
}

// RespondFiring is the record of a rule's match and its replies. Secrets are references here.
type RespondFiring struct {
	Time   time.Time      `json:"time"`
	Rule   string         `json:"rule" doc:"id"`
	Name   string         `json:"name,omitempty"`
	On     string         `json:"on,omitempty"`
	Offset uint64         `json:"offset" doc:"output offset of the match"`
	Match  string         `json:"match,omitempty"`
	Use    int            `json:"use,omitempty" doc:"number of this use, from 1"`
	Reply  []RespondReply `json:"reply,omitempty" doc:"replies with captures filled in; hidden input is [hidden]"`
	Error  string         `json:"error,omitempty" doc:"why the action failed, or a reply was not sent"`
}

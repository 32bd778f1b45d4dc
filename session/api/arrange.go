package api

import "encoding/json"

// Area is a part of the viewer, in percent of the space for panes.
type Area struct {
	X int `json:"x" minimum:"0" maximum:"100" doc:"left edge"`
	Y int `json:"y" minimum:"0" maximum:"100" doc:"upper edge"`
	W int `json:"w" minimum:"1" maximum:"100" doc:"width"`
	H int `json:"h" minimum:"1" maximum:"100" doc:"height"`
}

// Arrange asks the open viewers to change the layout of sessions. Only "focus" changes which pane has the user's focus.
type Arrange struct {
	Do      string `json:"do" enum:"place,focus,close,apply" doc:"place: show a session in a pane; focus: go to it; close: close its pane; apply: apply a layout. Only a user may focus and apply"`
	Session string `json:"session,omitempty" maxLength:"128" doc:"id, name, or a unique prefix of either"`
	Beside  string `json:"beside,omitempty" maxLength:"128" doc:"for place: the session whose pane is split; default: the focused one"`
	Below   bool   `json:"below,omitempty" doc:"for place: below it; default: to its right"`
	Tab     string `json:"tab,omitempty" maxLength:"128" doc:"for place: name of the tab, created as the last one if missing; default: the tab of beside, else the visible one"`
	Float   bool   `json:"float,omitempty" doc:"for place: in a floating pane, over the others of its tab"`
	Pinned  bool   `json:"pinned,omitempty" doc:"for place: in a floating pane that is over all tabs"`
	Stacked bool   `json:"stacked,omitempty" doc:"for place: stack it with beside; one pane of a stack is open, the others show their titles"`
	Area    *Area  `json:"area,omitempty" doc:"for place with float or pinned; default: in the middle"`
	// Layout is a layout in the viewer's format.
	Layout json.RawMessage `json:"layout,omitempty" doc:"for apply: as 'longterm layout dump' prints it"`
	// Order is set in the event that viewers get.
	Order string `json:"order,omitempty" maxLength:"64" doc:"in the event arrange: id for the viewers' response (POST /arrange/ORDER); ignored in requests"`
}

// OrderAnswer is a viewer's response to a requested change.
type OrderAnswer struct {
	Why string `json:"why,omitempty" maxLength:"1024" doc:"why it failed; empty: success"`
}

// Arranged is the response to a request to change viewers.
type Arranged struct {
	OK bool `json:"ok"`
	// Viewers is missing in responses of older daemons.
	Viewers *int `json:"viewers,omitempty" doc:"number of open viewers that show sessions; 0: nothing was changed"`
}

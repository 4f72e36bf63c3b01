package client

import (
	"cmp"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/org/autoloop/internal/agent/models"
	"github.com/org/autoloop/internal/plain"
)

// maxMessage bounds the words of an error, in characters.
const maxMessage = 300

// protocol is what differs between the APIs.
type protocol struct {
	path   string // of the method, below the endpoint's address
	login  func(http.Header, string)
	render func(*call) any
	read   func([]byte) (models.Response, error)
}

// call is a request on its way to an endpoint.
type call struct {
	protocol
	models.Request
	key           string
	host, address string
	// What this endpoint turned out to want.
	completionTokens, noTemperature, noJSON bool
}

func newCall(endpoint models.Endpoint, request models.Request) (*call, *models.Error) {
	request.Model = cmp.Or(request.Model, endpoint.Model)
	request.MaxTokens = cmp.Or(request.MaxTokens, endpoint.OutputTokens)
	c := &call{Request: request, key: endpoint.Key}
	switch endpoint.API {
	case models.OpenAI:
		c.protocol = openAI
	case models.Anthropic:
		c.protocol = anthropic
	default:
		return nil, c.fail(models.Invalid, 0,
			"an endpoint speaks "+string(models.OpenAI)+" or "+string(models.Anthropic)+", not "+string(endpoint.API))
	}
	if c.Model == "" {
		return nil, c.fail(models.Invalid, 0, "no model is named: give --model, or `model:` in the program file")
	}
	address, err := base(endpoint.URL)
	if err != nil {
		return nil, c.fail(models.Invalid, 0, err.Error())
	}
	c.host, c.address = address.Host, address.JoinPath(c.path).String()
	return c, nil
}

// base reads an endpoint's address. A key in clear text goes over no network.
func base(text string) (*url.URL, error) {
	address, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil || address.Host == "":
		return nil, errors.New("the endpoint is no address such as https://models.github.ai/inference")
	case address.User != nil || address.RawQuery != "" || address.Fragment != "":
		return nil, errors.New("the endpoint must be a plain address, without a user, a query or a fragment")
	case address.Scheme == "https", address.Scheme == "http" && (address.Hostname() == "localhost" ||
		net.ParseIP(address.Hostname()).IsLoopback()):
		return address, nil
	default:
		return nil, errors.New("the endpoint " + address.Host +
			" must be reached by https; http is for this machine alone")
	}
}

func (c *call) headers(header http.Header) {
	header.Set("Content-Type", "application/json")
	header.Set("Accept", "application/json")
	header.Set("User-Agent", "autoloop")
	c.login(header, c.key)
}

// adapt changes the request to what the endpoint said that it wants, and tells
// whether anything is left to change.
func (c *call) adapt(failed *models.Error) bool {
	if failed.Kind != models.Invalid || failed.Status != http.StatusBadRequest {
		return false
	}
	for word, wanted := range map[string]*bool{
		"max_completion_tokens": &c.completionTokens, "temperature": &c.noTemperature, "response_format": &c.noJSON,
	} {
		if strings.Contains(failed.Message, word) && !*wanted {
			*wanted = true
			return true
		}
	}
	return false
}

// fail makes an error whose words are one bounded line without the key.
func (c *call) fail(kind models.ErrorKind, status int, text string) *models.Error {
	if len(c.key) > 3 {
		text = strings.ReplaceAll(text, c.key, "***")
	}
	return &models.Error{Kind: kind, Status: status, Message: plain.Short(text, maxMessage)}
}

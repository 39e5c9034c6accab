// The npm package oidc-provider with the people and clients of a test, on loopback.
// Its settings are one line of JSON on standard input: port, clients, people, keys.
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const { default: Provider } = await import(pathToFileURL(process.argv[2]));
const [line] = await new Promise((told) => createInterface({ input: process.stdin }).once('line', (...all) => told(all)));
const settings = JSON.parse(line);
const issuer = `http://127.0.0.1:${settings.port}`;

const provider = new Provider(issuer, {
  clients: settings.clients,
  jwks: { keys: settings.keys },
  cookies: { keys: ['a key of the test'] },
  claims: {
    openid: ['sub'],
    profile: ['name', 'eduperson_principal_name'],
    groups: ['groups', 'eduperson_entitlement', 'eduperson_scoped_affiliation'],
  },
  // What is asked for is told by userinfo only, as most providers do.
  conformIdTokenClaims: true,
  pkce: { required: () => true },
  ttl: { AuthorizationCode: (ctx, code, client) => (client.clientId.endsWith('short') ? 1 : 60) },
  findAccount: (ctx, id) => ({
    accountId: id,
    claims: () => ({ sub: id, ...settings.people[id] }),
  }),
});
provider.listen(settings.port, '127.0.0.1', () => console.log('listening'));

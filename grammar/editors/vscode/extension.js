// Starts `dtjc lsp` and lets VS Code talk to it. Without vscode-languageclient the colours still work.
const vscode = require('vscode');

let client;

function activate() {
  let library;
  try {
    library = require('vscode-languageclient/node');
  } catch {
    return;
  }
  const command = vscode.workspace.getConfiguration('dtj').get('server.path', 'dtjc');
  client = new library.LanguageClient(
    'dtj', 'dtj', { command, args: ['lsp'] }, { documentSelector: [{ language: 'dtj' }] });
  return client.start();
}

function deactivate() {
  return client ? client.stop() : undefined;
}

module.exports = { activate, deactivate };

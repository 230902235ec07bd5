import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset


class SentimentLSTM(nn.Module):
    def __init__(self, vocab_size, embedding_dim, hidden_dim, output_dim, dropout):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embedding_dim)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim, batch_first=True)
        self.dropout = nn.Dropout(dropout)
        self.fc = nn.Linear(hidden_dim, output_dim)

    def forward(self, text):
        embedded = self.dropout(self.embedding(text))
        output, (hidden, cell) = self.lstm(embedded)
        return self.fc(self.dropout(hidden[-1]))


def make_data(n, length=9, vocab=40):
    label = torch.randint(0, 2, (n,))
    text = torch.randint(0, vocab, (n, length))
    text[:, -3:] = torch.where(label[:, None] == 1, torch.randint(20, vocab, (n, 3)), torch.randint(0, 25, (n, 3)))
    return TensorDataset(text, label.float())


def binary_accuracy(preds, y):
    return (torch.round(torch.sigmoid(preds)) == y).float().mean()


torch.manual_seed(2)
train_iter = DataLoader(make_data(240), batch_size=24, shuffle=True)
valid_iter = DataLoader(make_data(80), batch_size=40)
model = SentimentLSTM(40, 8, 12, 1, 0.2)
optimizer = optim.Adam(model.parameters(), lr=0.01)
criterion = nn.BCEWithLogitsLoss()

for epoch in range(6):
    model.train()
    for text, label in train_iter:
        optimizer.zero_grad()
        predictions = model(text).squeeze(1)
        loss = criterion(predictions, label)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
    model.eval()
    with torch.no_grad():
        acc = [binary_accuracy(model(text).squeeze(1), label).item() for text, label in valid_iter]
    print(epoch, sum(acc) / len(acc))
